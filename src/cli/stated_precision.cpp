#include "cli/stated_precision.h"

#include <cstdlib>

namespace millrace::cli {

void compute_in_stated_precision() {
  setenv("MILLRACE_NO_BF16", "0", 0);
}

}  // namespace millrace::cli
