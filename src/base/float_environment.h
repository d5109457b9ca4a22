// DefaultFloatEnvironment: while it exists, the calling thread has the floating-point environment
// in which everything is computed: round to nearest, no flushing of denormal numbers, no traps. So
// results are bit-equal on a lane and on a caller's thread, and weights are on any loading thread.
//
// Every entry that computes on a thread of the program has one. Threads of this project begin with
// the environment (base/process/thread.h), because a new thread inherits that of its creator. The
// destructor restores the caller's own environment: rounding, flushing, exception masks and flags,
// of SSE and of x87.
#pragma once

#include <cfenv>
#include <cstdint>

namespace millrace {

class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  // Not fegetenv and fesetenv, which take longer than a request of the null device. The registers
  // are written only where their values differ, for the same reason.
  DefaultFloatEnvironment() noexcept : sse_(__builtin_ia32_stmxcsr()), x87_(x87_state()) {
    if ((sse_ & ~kSseFlags) != kDefaultSse) __builtin_ia32_ldmxcsr(kDefaultSse);
    if (x87_.control != kDefaultX87) set_default_x87();
    keep_order();
  }
  ~DefaultFloatEnvironment() {
    keep_order();
    if (__builtin_ia32_stmxcsr() != sse_) __builtin_ia32_ldmxcsr(sse_);
    if (x87_state() != x87_) restore_x87();
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
  struct X87 {
    uint16_t control = 0;
    uint16_t flags = 0;  // exceptions that have occurred, and the status bits that follow from them
    bool operator==(const X87&) const = default;
  };
  // The values the System V ABI gives a new process.
  static constexpr uint32_t kDefaultSse = 0x1f80;
  static constexpr uint16_t kDefaultX87 = 0x037f;
  static constexpr uint32_t kSseFlags = 0x3f;  // exceptions that have occurred

  static X87 x87_state() noexcept {
    X87 state;
    asm volatile("fnstcw %0\n\tfnstsw %1" : "=m"(state.control), "=m"(state.flags));
    state.flags &= 0xff;  // the other bits are not flags
    return state;
  }
  // The compiler moves no memory access across the constructor or the destructor.
  static void keep_order() noexcept {
    asm volatile("" : : : "memory");
  }
  // No instruction here waits for pending exceptions of the caller, which would trigger its trap.
  static void set_default_x87() noexcept {
    asm volatile("fnclex\n\tfldcw %0" : : "m"(kDefaultX87));
  }
  void restore_x87() const noexcept {
    struct {
      uint32_t control, status, others[5];
    } environment;
    asm volatile("fnstenv %0" : "=m"(environment));
    environment.control = (environment.control & 0xffff0000) | x87_.control;
    environment.status = (environment.status & ~uint32_t{0xff}) | x87_.flags;
    asm volatile("fldenv %0" : : "m"(environment));
  }

  const uint32_t sse_;
  const X87 x87_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace millrace
