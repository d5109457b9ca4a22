// UnitCore: the state that a Unit and its Jobs share: the execution unit, and the device, which
// must outlive it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/device.h"
#include "device/faulty/faulty_device.h"
#include "millrace/execution.hpp"
#include "queue/units/unit.h"

namespace millrace::api {

class UnitCore {
 public:
  UnitCore(std::shared_ptr<device::Device> device, UnitOptions options,
           std::unique_ptr<queue::Unit> unit) noexcept
      : device_(std::move(device)),
        faults_(device::faults_of(*device_)),
        name_(std::move(options.name)),
        when_full_(options.when_full),
        unit_(std::move(unit)) {}

  device::Device& device() noexcept { return *device_; }
  const std::string& name() const noexcept { return name_; }
  queue::Unit& unit() noexcept { return *unit_; }
  WhenFull when_full() const noexcept { return when_full_; }
  // Returns kQueueFull if a fault plan refuses the next call that submits a job.
  Status admit_call() noexcept {
    return faults_ == nullptr ? Status() : faults_->admit_call(unit_->id());
  }

 private:
  const std::shared_ptr<device::Device> device_;
  const std::shared_ptr<device::FaultPlan> faults_;  // null unless the device is a faulty one
  const std::string name_;
  const WhenFull when_full_;
  const std::unique_ptr<queue::Unit> unit_;
};

}  // namespace millrace::api
