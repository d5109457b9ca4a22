// Checks how much stack the calling thread has left, and runs functions on a new thread with a
// larger stack if necessary. Thread-safe.
//
// Programs call Millrace on threads with small stacks, down to PTHREAD_STACK_MIN (16 KiB), and on
// fibers, whose stacks the system does not know. Loading a model, and some kernels, need more stack
// than that, and a stack overflow terminates the process.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/status.h"

namespace millrace {

// The stack that loading a model may use, in bytes.
inline constexpr size_t kStackForLoading = size_t{1} << 20;
// The stack that a job may use, in bytes. If the caller has less, a lane runs the job.
inline constexpr size_t kStackForJobs = size_t{128} << 10;

// Returns true if the calling thread has at least that many bytes of its stack left; false on a
// fiber. The first call of a thread queries the system, later ones compare addresses.
bool has_stack(size_t bytes) noexcept;

// Calls `work` on this thread, or on a new one if less than kStackForLoading is left. Blocks until
// it has returned, and rethrows its exception. kResourceExhausted when no thread can be started, or
// kForked: `work` has not run then.
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
