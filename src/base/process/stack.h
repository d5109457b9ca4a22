// Tells how much stack the calling thread has left, and runs calls on another stack if necessary.
//
// Programs call from threads with any stack, down to PTHREAD_STACK_MIN (16 KiB), and from fibers,
// whose stacks are not known to the system. Loading a model takes more than such a thread has, and
// so do some kernels. What overflows a stack ends the process.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/status.h"

namespace millrace {

// Loading a model may take this much stack.
inline constexpr size_t kStackForLoading = size_t{1} << 20;
// A job may take this much. If the caller has less, lanes run its jobs.
inline constexpr size_t kStackForJobs = size_t{128} << 10;

// Returns whether the calling thread has that many bytes of its stack left; false if the stack does
// not belong to a thread. The first call of a thread asks the system, later ones compare addresses.
bool has_stack(size_t bytes) noexcept;

// Calls `work` here, or on a new thread if less than kStackForLoading is left. Returns once it has
// run, and rethrows its exception. kResourceExhausted when the system refuses the thread; also
// kForked. `work` has not run then.
Status call_with_stack(const std::function<void()>& work);

// Does the same for a function that returns a Status or a Result.
template <class F>
std::invoke_result_t<F> with_stack(const F& make) {
  std::optional<std::invoke_result_t<F>> made;
  const Status status = call_with_stack([&] { made.emplace(make()); });
  if (!made) return status;
  return *std::move(made);
}

}  // namespace millrace
