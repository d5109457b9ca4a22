#include "runtime/loading/strict_zero_copy.h"

#include "base/settings/environment.h"

namespace millrace::runtime {

Result<bool> strict_zero_copy_requested() {
  return switch_variable("MILLRACE_STRICT_ZERO_COPY", false);
}

}  // namespace millrace::runtime
