// DefaultFloatEnvironment: while it exists, the calling thread has the floating-point environment
// in which Millrace computes: rounding to nearest, denormal numbers kept, no traps. So a job gives
// the same bits on a lane and on a caller's thread, and so does the preparation of weights on any
// thread that loads a model.
//
// Every entry point that computes on a thread of the program has such an object. Millrace's own
// threads start with this environment (base/process/thread.h), since a new thread inherits that of
// its creator. The destructor restores the caller's environment: rounding, flushing, exception
// masks and flags, of SSE and of x87.
#pragma once

#include <cfenv>
#include <cstdint>

namespace millrace {

class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  // Does not use fegetenv and fesetenv, which take longer than a request of the null device. For
  // the same reason, the registers are only written if their values differ.
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
    uint16_t flags = 0;  // exceptions that have occurred, and the status bits derived from them
    bool operator==(const X87&) const = default;
  };
  // The values in a new process, according to the System V ABI.
  static constexpr uint32_t kDefaultSse = 0x1f80;
  static constexpr uint16_t kDefaultX87 = 0x037f;
  static constexpr uint32_t kSseFlags = 0x3f;  // exceptions that have occurred

  static X87 x87_state() noexcept {
    X87 state;
    asm volatile("fnstcw %0\n\tfnstsw %1" : "=m"(state.control), "=m"(state.flags));
    state.flags &= 0xff;  // the other bits are not flags
    return state;
  }
  // Prevents the compiler from moving memory accesses across the constructor or the destructor.
  static void keep_order() noexcept {
    asm volatile("" : : : "memory");
  }
  // Uses only instructions that do not wait for pending exceptions of the caller, since waiting
  // would raise its trap.
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
