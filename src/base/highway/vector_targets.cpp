#include "base/highway/vector_targets.h"

#include <hwy/targets.h>

#include "base/max_isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace millrace {
namespace {

#if defined(__x86_64__)

// These test for F16C and VAES, which __builtin_cpu_supports of clang 14 does not know. The system
// saves their registers if it supports AVX2 and AVX-512, respectively.
bool has_half_floats() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

bool has_wide_aes() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_VAES) != 0;
}

// The features that a target requires are those of hwy/ops/set_macros-inl.h. Each target includes
// the one before it.
bool has_sse4() {
  return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
         __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
         __builtin_cpu_supports("aes");
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") && has_half_floats();
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

bool has_avx512_of_ice_lake() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
         __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("vpclmulqdq") &&
         has_wide_aes();
}

int64_t targets_of_processor(MaxIsa isa) {
  __builtin_cpu_init();
  int64_t targets = HWY_SCALAR | HWY_EMU128;
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!has_sse4()) return targets;
  targets |= HWY_SSE4;
  if (!has_avx2()) return targets;
  targets |= HWY_AVX2;
  if (!has_avx512() || isa < MaxIsa::kAvx512) return targets;
  targets |= HWY_AVX3;
  if (!has_avx512_of_ice_lake() || isa < MaxIsa::kAvx512Vnni) return targets;
  return targets | HWY_AVX3_DL;
}

#else

// On other architectures loops only use the baseline target of the compiler.
int64_t targets_of_processor(MaxIsa) {
  return HWY_STATIC_TARGET;
}

#endif

}  // namespace

int64_t vector_targets() noexcept {
  const Result<MaxIsa> isa = max_isa();
  return targets_of_processor(isa.ok() ? *isa : MaxIsa::kAmx);
}

hwy::ChosenTarget& chosen_vector_target() noexcept {
  static constinit hwy::ChosenTarget chosen;
  return chosen;
}

}  // namespace millrace
