// UnitCore: the state that a Unit and its Jobs share: the execution unit, and the device, which
// must outlive it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/device.h"
#include "queue/units/unit.h"

namespace millrace::api {

class UnitCore {
 public:
  UnitCore(std::shared_ptr<device::Device> device, std::string name,
           std::unique_ptr<queue::Unit> unit) noexcept
      : device_(std::move(device)), name_(std::move(name)), unit_(std::move(unit)) {}

  device::Device& device() noexcept { return *device_; }
  const std::string& name() const noexcept { return name_; }
  queue::Unit& unit() noexcept { return *unit_; }

 private:
  const std::shared_ptr<device::Device> device_;
  const std::string name_;
  const std::unique_ptr<queue::Unit> unit_;
};

}  // namespace millrace::api
