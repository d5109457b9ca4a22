// Defines what HWY_DYNAMIC_DISPATCH calls. It replaces Highway's own functions, since the shared
// library with those measures the clock of the processor when it is loaded: 3.4 ms of every
// process. Each library that has vector loops links these, hidden; the choice is one, in
// libmillrace.so.
#include <hwy/targets.h>

#include "base/highway/vector_targets.h"

namespace hwy {

int64_t SupportedTargets() {
  return millrace::vector_targets();
}

ChosenTarget& GetChosenTarget() {
  return millrace::chosen_vector_target();
}

}  // namespace hwy
