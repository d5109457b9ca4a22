// ErrorTracker: collects the failures of the requests that were scheduled with it until the program
// fetches them (nrta_error_tracker_get_list, the interface of SDK 2.28).
//
// record() is thread-safe and is called by the threads that complete requests. take() may be called
// by one thread at a time.
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
  // Returns the errors recorded since the last call, in the order of completion. The span is valid
  // until the next call.
  std::span<const nrta_error_t> take();

 private:
  std::mutex mutex_;
  std::vector<nrta_error_t> recorded_;
  bool dropping_ = false;
  std::vector<nrta_error_t> taken_;  // the errors that the last take() returned
};

// The type behind the public nrta_error_tracker_t*. It cannot have that name, to which the public
// header gives another meaning in C++.
struct TrackerHandle : Handle<ErrorTracker> {};
using TrackerHandles = Handles<TrackerHandle>;
inline TrackerHandle* to_handle(nrta_error_tracker_t* tracker) noexcept {
  return reinterpret_cast<TrackerHandle*>(tracker);
}

}  // namespace millrace::nrt
