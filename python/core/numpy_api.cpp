#define MILLRACE_IMPORTS_NUMPY
#include "core/numpy_api.h"

namespace millrace::python {

bool import_numpy() {
  return _import_array() >= 0;
}

}  // namespace millrace::python
