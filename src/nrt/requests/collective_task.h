// CollectiveTask: a prepared collective, run once.
#pragma once

#include <memory>

#include "device/device.h"
#include "nrt/requests/collective.h"
#include "nrt/requests/request_task.h"
#include "nrt/trace/run_scope.h"

namespace millrace::nrt {

class CollectiveTask final : public RequestTask {
 public:
  CollectiveTask(std::shared_ptr<device::Device> device, UnitContext unit)
      : RequestTask(std::move(unit)), device_(std::move(device)) {}

  void fill(std::shared_ptr<Collective> collective, StatusTarget target) noexcept {
    collective_ = std::move(collective);
    report_to(std::move(target));
  }
  Status run(queue::RunControl& control) noexcept override;

 private:
  Status copy_all(queue::RunControl& control, trace::RunScope& traced) noexcept;
  void drop_references() noexcept override { collective_.reset(); }

  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<Collective> collective_;
};

}  // namespace millrace::nrt
