// The bounds of a thread's stack come from pthread_getattr_np, for the main thread from
// __libc_stack_end and RLIMIT_STACK, and are cached per thread.
#include "base/process/stack.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>

#include "base/cancellation.h"
#include "base/format_status.h"
#include "base/process/all_signals_blocked.h"
#include "base/process/forked_child.h"

namespace millrace {
namespace {

// The bounds of a thread's stack. The type is trivial and constant-initialised, so that the
// thread-local object can be used as long as the thread's memory exists.
struct Stack {
  uintptr_t begin = 0, end = 0;
  bool is_known = false;
};
// With the initial-exec model an access does not call the dynamic loader, which terminates the
// process when memory is exhausted.
constinit thread_local Stack own_stack [[gnu::tls_model("initial-exec")]];

// The end of the main thread's stack, which the dynamic loader defines and no header declares.
extern "C" void* __libc_stack_end;  // NOLINT(bugprone-reserved-identifier)

// Returns the stack of the main thread, which grows up to the limit of the process.
// pthread_getattr_np() would read /proc/self/maps for that, which a sandbox may forbid.
Stack first_stack() noexcept {
  rlimit limit{};
  const auto end = reinterpret_cast<uintptr_t>(__libc_stack_end);
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  constexpr rlim_t kEnough = rlim_t{1} << 30;
  return {end - static_cast<uintptr_t>(std::min(limit.rlim_cur, kEnough)), end, /*is_known=*/true};
}

// Returns the stack of the calling thread. `is_known` is false if the system reports an error; the
// next call tries again.
Stack find_stack() noexcept {
  if (gettid() == getpid()) return first_stack();
  Stack found;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return found;
  void* begin = nullptr;
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
    const auto address = reinterpret_cast<uintptr_t>(begin);
    found = {address, address + bytes, /*is_known=*/true};
  }
  pthread_attr_destroy(&attributes);
  return found;
}

// A call that runs on a new thread.
struct Call {
  const std::function<void()>& work;
  std::exception_ptr thrown = nullptr;
};

void* run(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  pthread_setname_np(pthread_self(), "millrace-load");
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  try {
    call.work();
  } catch (...) {
    call.thrown = std::current_exception();
  }
  return nullptr;
}

// Runs a call on a new thread and waits for it. Returns an errno, 0 for success.
int run_on_thread(Call& call, size_t stack_bytes) {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) return error;
  int error = pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread{};
  if (error == 0) {
    const AllSignalsBlocked blocked;
    error = pthread_create(&thread, &attributes, run, &call);
  }
  pthread_attr_destroy(&attributes);
  if (error == 0) pthread_join(thread, nullptr);
  return error;
}

}  // namespace

bool has_stack(size_t bytes) noexcept {
  if (!own_stack.is_known) own_stack = find_stack();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here >= own_stack.begin && here < own_stack.end && here - own_stack.begin >= bytes;
}

Status call_with_stack(const std::function<void()>& work) {
  if (has_stack(kStackForLoading)) {
    work();
    return {};
  }
  if (is_forked_child()) return forked_status();
  const CancellationOff whole;
  Call call{work};
  // Twice as much, since the thread itself needs some of its stack.
  if (const int error = run_on_thread(call, 2 * kStackForLoading)) {
    return format_status(StatusCode::kResourceExhausted,
                         "the stack of this thread is too small to load a model, and the system "
                         "refused a thread with a larger one: {}",
                         error_text(error));
  }
  if (call.thrown) std::rethrow_exception(call.thrown);
  return {};
}

}  // namespace millrace
