// ErrorTracker: the failed requests that it was given for, until they are fetched (the 2.28 way to
// learn of failures).
//
// Requests record from the threads that complete them; one thread at a time fetches.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "nrt/nrt_async.h"
#include "nrt/objects/handles.h"

namespace millrace::nrt {

class ErrorTracker {
 public:
  // Errors kept for somebody to fetch; later ones are dropped, and the log says so once.
  static constexpr size_t kMost = 1'000'000;

  void record(nrta_seq_t sequence, NRT_STATUS status) noexcept;
  // What was recorded since the last call, in the order of completion. Valid until the next call.
  std::span<const nrta_error_t> take();

 private:
  std::mutex mutex_;
  std::vector<nrta_error_t> recorded_;
  bool dropping_ = false;
  std::vector<nrta_error_t> taken_;  // of the one who fetches
};

// What the published pointer points to; the header gives its type a meaning of its own in C++.
struct TrackerHandle : Handle<ErrorTracker> {};
using TrackerHandles = Handles<TrackerHandle>;
inline TrackerHandle* to_handle(nrta_error_tracker_t* tracker) noexcept {
  return reinterpret_cast<TrackerHandle*>(tracker);
}

}  // namespace millrace::nrt
