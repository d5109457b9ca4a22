#include "nrt/objects/error_tracker.h"

#include <new>
#include <utility>

#include "base/log.h"

namespace millrace::nrt {

void ErrorTracker::record(nrta_seq_t sequence, NRT_STATUS status) noexcept {
  const std::lock_guard lock(mutex_);
  bool kept = recorded_.size() < kMost;
  try {
    if (kept) recorded_.push_back({sequence, static_cast<uint64_t>(status)});
  } catch (const std::bad_alloc&) {
    kept = false;
  }
  if (!kept && !std::exchange(dropping_, true))
    log(LogLevel::kWarning, "nrt",
        "an error tracker is full and drops errors, because the program does not fetch them");
}

std::span<const nrta_error_t> ErrorTracker::take() {
  taken_.clear();
  const std::lock_guard lock(mutex_);
  std::swap(taken_, recorded_);
  dropping_ = false;
  return taken_;
}

}  // namespace millrace::nrt
