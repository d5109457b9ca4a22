// DefaultFloatEnvironment: the floating-point environment that requests run in, on whatever thread:
// round to nearest, no flushing of denormal numbers, no traps. So results are bit-equal on a lane
// and on a caller's thread, and the caller's own settings (and exception flags) come back.
#pragma once

#include <cfenv>
#include <cstdint>

namespace millrace {

class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  // fegetenv and fesetenv take longer than a request of the null device.
  DefaultFloatEnvironment() noexcept : sse_(__builtin_ia32_stmxcsr()) {
    asm volatile("fnstcw %0" : "=m"(x87_));
    set(kDefaultSse, kDefaultX87);
  }
  ~DefaultFloatEnvironment() {
    set(sse_, x87_);
  }
#else
  DefaultFloatEnvironment() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() {
    std::fesetenv(&before_);
  }
#endif
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  // The values the System V ABI gives a new process.
  static constexpr uint32_t kDefaultSse = 0x1f80;
  static constexpr uint16_t kDefaultX87 = 0x037f;
  static void set(uint32_t sse, uint16_t x87) noexcept {
    __builtin_ia32_ldmxcsr(sse);
    asm volatile("fldcw %0" : : "m"(x87));
  }
  uint32_t sse_;
  uint16_t x87_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace millrace
