// Bounds of vectors that keep NaN. Included once per instruction set.
#if defined(MILLRACE_CPU_KEEP_BETWEEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_CPU_KEEP_BETWEEN_INL_H_
#undef MILLRACE_CPU_KEEP_BETWEEN_INL_H_
#else
#define MILLRACE_CPU_KEEP_BETWEEN_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {

// Returns the larger of both, and x where it is NaN. Requirement: `least` is not NaN.
template <class V>
HWY_INLINE V at_least(V least, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86
  // The maximum of x86 is the second operand where one operand is NaN.
  return hn::Max(least, x);
#else
  // Elsewhere the maximum of a number and NaN may be the number. NaN is never less than a number.
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}

// Returns the smaller of both, and x where it is NaN. Requirement: `most` is not NaN.
template <class V>
HWY_INLINE V at_most(V most, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86
  return hn::Min(most, x);
#else
  return hn::IfThenElse(hn::Lt(most, x), most, x);
#endif
}

// Keeps x between the bounds; NaN stays NaN.
template <class V>
HWY_INLINE V keep_between(V least, V most, V x) {
  return at_most(most, at_least(least, x));
}

}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
