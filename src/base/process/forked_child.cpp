#include "base/process/forked_child.h"

#include <pthread.h>

namespace millrace {

namespace forked_child_internal {
constinit std::atomic<bool> is_child{false};
}  // namespace forked_child_internal

Status forked_status() noexcept {
  return {StatusCode::kForked,
          "Millrace was in use before the process was forked: use it only after a fork, or exec"};
}

Status watch_for_forks() noexcept {
  static std::atomic<bool> watched{false};
  if (watched.load(std::memory_order_acquire)) return {};
  // Two threads may both register the handler, which is harmless.
  const int error = pthread_atfork(nullptr, nullptr, [] {
    forked_child_internal::is_child.store(true, std::memory_order_relaxed);
  });
  if (error != 0) return {StatusCode::kOutOfMemory, "no memory for a fork handler"};
  watched.store(true, std::memory_order_release);
  return {};
}

}  // namespace millrace
