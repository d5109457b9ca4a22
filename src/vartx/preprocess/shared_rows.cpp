#include "vartx/preprocess/shared_rows.h"

#include <utility>

#include "base/log.h"
#include "base/process/forked_child.h"
#include "device/registry.h"

namespace millrace::vartx {

void SharedRows::run(const vision::RowWork& work) {
  const bool alone = work.samples < kLeastSamples || is_forked_child();
  queue::SharedLoop* const loop = alone ? nullptr : find_loop();
  if (loop == nullptr) return vision::run_serially(work);
  loop->run(work.rows, work.task);
}

queue::SharedLoop* SharedRows::find_loop() {
  const std::lock_guard lock(mutex_);
  if (loop_ != nullptr) return loop_.get();
  std::shared_ptr<device::Device> device = device::find_device_of_program();
  if (device == nullptr) return nullptr;
  Result<std::unique_ptr<queue::SharedLoop>> loop = queue::SharedLoop::create(device->lanes());
  if (!loop.ok()) {
    log(LogLevel::kDebug, "vartx", loop.status().message());
    return nullptr;
  }
  device_ = std::move(device);
  loop_ = *std::move(loop);
  return loop_.get();
}

}  // namespace millrace::vartx
