// The functions that HWY_DYNAMIC_DISPATCH calls. They replace Highway's own, since Highway's shared
// library measures the clock of the processor when it is loaded, which takes 3.4 ms in every
// process. Each library with vector loops links these as hidden symbols; the chosen target is
// shared by all, in libmillrace.so.
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
