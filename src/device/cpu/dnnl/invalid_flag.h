// Accesses the processor's flag for invalid floating-point operations, of the calling thread. An
// instruction raises it that makes a NaN of numbers, as inf - inf does. On x86 it is also raised by
// instructions that compare a NaN, or take the maximum or minimum of a NaN and a number. It stays
// raised until it is cleared.
#pragma once

#include <cfenv>

namespace millrace::device::cpu {

#if defined(__x86_64__)
// Whether the flag is raised where a maximum or minimum has lost a NaN.
inline constexpr bool kFlagShowsNan = true;

// The functions of <cfenv> also handle the x87 registers and take longer, so they are not used.
inline constexpr unsigned kInvalidOperation = 1;

inline bool invalid_flag() noexcept {
  return (__builtin_ia32_stmxcsr() & kInvalidOperation) != 0;
}
inline void clear_invalid_flag() noexcept {
  const unsigned flags = __builtin_ia32_stmxcsr();
  if ((flags & kInvalidOperation) != 0) __builtin_ia32_ldmxcsr(flags & ~kInvalidOperation);
}
inline void raise_invalid_flag() noexcept {
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | kInvalidOperation);
}
#else
inline constexpr bool kFlagShowsNan = false;

inline bool invalid_flag() noexcept {
  return std::fetestexcept(FE_INVALID) != 0;
}
inline void clear_invalid_flag() noexcept {
  std::feclearexcept(FE_INVALID);
}
inline void raise_invalid_flag() noexcept {
  std::feraiseexcept(FE_INVALID);
}
#endif

}  // namespace millrace::device::cpu
