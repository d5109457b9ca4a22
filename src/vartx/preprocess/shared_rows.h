// SharedRows: computes the rows of a picture in parallel, on the calling thread and on idle lanes
// of the device that the process's runners use (queue/lanes/shared_loop.h). If the process has no
// runner and so no lanes, or if the picture is small, the calling thread computes all rows.
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>

#include "device/device.h"
#include "queue/lanes/shared_loop.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::vartx {

class SharedRows {
 public:
  // The smallest number of source samples for which lanes are used. Fewer take less than about a
  // quarter of a millisecond, and waking a lane takes as long as it saves
  // (docs/performance/conversions.md).
  static constexpr uint64_t kLeastSamples = 400'000;

  // Runs the work; usable as a vision::RowRunner. Blocks until all rows are computed.
  void run(const vision::RowWork& work);

 private:
  queue::SharedLoop* find_loop();

  std::mutex mutex_;
  // The device whose lanes loop_ uses, set by the first picture for which there were lanes. It is
  // declared before loop_, which must be destroyed first.
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<queue::SharedLoop> loop_;
};

}  // namespace millrace::vartx
