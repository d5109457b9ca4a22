// A hint to compilers about vectors of loops. Included once per instruction set.
#if defined(MILLRACE_CPU_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_CPU_REGISTERS_INL_H_
#undef MILLRACE_CPU_REGISTERS_INL_H_
#else
#define MILLRACE_CPU_REGISTERS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {

// Keeps a vector from being loaded again for each product that it is part of, as g++ does: a load
// takes as long as a product. Keeps a sum, after each addition, in the register where it is: g++ 12
// moves them to other registers and back in each pass of some loops, which takes as long as the
// products. With AVX-512 only, which has 32 registers.
template <class V>
HWY_INLINE void keep_in_register([[maybe_unused]] V& vector) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  auto raw = vector.raw;
  __asm__("" : "+v"(raw));
  vector.raw = raw;
#endif
}

}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
