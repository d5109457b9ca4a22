// ErrorTracker: keeps the failures of the requests that were scheduled with it until the program
// fetches them. Programs of SDK 2.28 learn of failures this way.
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
  // Number of errors that are kept until they are fetched; later ones are dropped, and the first
  // of those is logged.
  static constexpr size_t kMost = 1'000'000;

  void record(nrta_seq_t sequence, NRT_STATUS status) noexcept;
  // Returns the errors recorded since the last call, by completion. Valid until the next call.
  std::span<const nrta_error_t> take();

 private:
  std::mutex mutex_;
  std::vector<nrta_error_t> recorded_;
  bool dropping_ = false;
  std::vector<nrta_error_t> taken_;  // what the last take() has returned
};

// The object that the published pointer points to: the public header gives the type that it names
// another meaning in C++.
struct TrackerHandle : Handle<ErrorTracker> {};
using TrackerHandles = Handles<TrackerHandle>;
inline TrackerHandle* to_handle(nrta_error_tracker_t* tracker) noexcept {
  return reinterpret_cast<TrackerHandle*>(tracker);
}

}  // namespace millrace::nrt
