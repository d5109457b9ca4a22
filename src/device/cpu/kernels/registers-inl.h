// A hint to compilers to keep a vector in its register. Included once per instruction set.
#if defined(MILLRACE_CPU_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_CPU_REGISTERS_INL_H_
#undef MILLRACE_CPU_REGISTERS_INL_H_
#else
#define MILLRACE_CPU_REGISTERS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {

// Without this, g++ loads an operand again for each product, and a load takes as long as a product;
// and g++ 12 moves sums to other registers and back in each pass of some loops, which takes as long
// as the products. It has an effect with AVX-512 only, which has 32 registers.
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
