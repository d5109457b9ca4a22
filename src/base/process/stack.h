// How much stack the calling thread has left, and another stack where that is too little.
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

// What loading a model may take.
inline constexpr size_t kStackForLoading = size_t{1} << 20;
// What a job may take. Callers with less have lanes run their jobs.
inline constexpr size_t kStackForJobs = size_t{128} << 10;

// Whether the calling thread has that many bytes of its stack left; false on a stack that is not
// that of a thread. The first call of a thread asks the system; further ones compare two addresses.
bool has_stack(size_t bytes) noexcept;

// Calls `work` here, or on a thread of its own where less than kStackForLoading is left. Returns
// once it has run, and throws what it has thrown. kResourceExhausted when the system refuses the
// thread, kForked; then it has not run.
Status call_with_stack(const std::function<void()>& work);

// The same for what returns a Status or a Result.
template <class F>
std::invoke_result_t<F> with_stack(const F& make) {
  std::optional<std::invoke_result_t<F>> made;
  const Status status = call_with_stack([&] { made.emplace(make()); });
  if (!made) return status;
  return *std::move(made);
}

}  // namespace millrace
