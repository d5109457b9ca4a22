// Keeps the vector loops of the process, which Highway dispatches, within MILLRACE_MAX_ISA.
#include <hwy/targets.h>

#include "base/max_isa.h"

namespace millrace::tensor {
namespace {

// When the library is loaded, before any loop runs: the choice is made once for all of them. A
// value that makes no sense is no limit; opening a device that computes reports it.
[[gnu::constructor]] void limit_targets() {
#if defined(__x86_64__)
  const Result<MaxIsa> isa = max_isa();
  if (!isa.ok()) return;
  // AVX3_DL needs VNNI among others.
  if (*isa < MaxIsa::kAvx512Vnni) hwy::DisableTargets(HWY_AVX3_DL);
  if (*isa < MaxIsa::kAvx512) hwy::DisableTargets(HWY_AVX3_DL | HWY_AVX3);
#endif
}

}  // namespace
}  // namespace millrace::tensor
