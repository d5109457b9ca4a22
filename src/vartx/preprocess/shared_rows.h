// SharedRows: divides the rows of a picture among the calling thread and the lanes of the device on
// which the process's runners run. A process without a runner has no lanes, and none are started
// for this: the calling thread then makes all rows. So does it where a picture is too small for
// more.
#pragma once

#include <memory>
#include <mutex>

#include "device/device.h"
#include "queue/lanes/shared_loop.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::vartx {

class SharedRows {
 public:
  // Below so many pixels that are read, about a quarter of a millisecond, waking a lane takes as
  // long as it saves (docs/performance/conversions.md).
  static constexpr uint64_t kLeastSamples = 400'000;

  // A vision::RowRunner. Thread-safe.
  void run(const vision::RowWork& work);

 private:
  queue::SharedLoop* find_loop();

  std::mutex mutex_;
  // Device of the first picture for which there were lanes; it outlives the loop over its lanes.
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<queue::SharedLoop> loop_;
};

}  // namespace millrace::vartx
