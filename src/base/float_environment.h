// DefaultFloatEnvironment: while it exists, the calling thread has the floating-point environment
// in which all requests run: round to nearest, no flushing of denormal numbers, no traps. So
// results are bit-equal on a lane and on a caller's thread. The destructor restores the caller's
// own settings and exception flags.
#pragma once

#include <cfenv>
#include <cstdint>

namespace millrace {

class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  // Not fegetenv and fesetenv, which take longer than a request of the null device. The registers
  // are written only where their values differ, for the same reason.
  DefaultFloatEnvironment() noexcept : sse_(__builtin_ia32_stmxcsr()) {
    asm volatile("fnstcw %0" : "=m"(x87_));
    if ((sse_ & ~kSseFlags) != kDefaultSse) __builtin_ia32_ldmxcsr(kDefaultSse);
    if (x87_ != kDefaultX87) set_x87(kDefaultX87);
  }
  ~DefaultFloatEnvironment() {
    if (__builtin_ia32_stmxcsr() != sse_) __builtin_ia32_ldmxcsr(sse_);
    if (x87_ != kDefaultX87) set_x87(x87_);
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
  static constexpr uint32_t kSseFlags = 0x3f;  // exceptions that have occurred
  static void set_x87(uint16_t x87) noexcept {
    asm volatile("fldcw %0" : : "m"(x87));
  }
  uint32_t sse_;
  uint16_t x87_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace millrace
