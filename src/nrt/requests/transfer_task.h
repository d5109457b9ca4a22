// TransferTask: the request that reads, writes or copies a tensor by the device's data mover.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.h"
#include "nrt/objects/tensor.h"
#include "nrt/requests/request_task.h"

namespace millrace::nrt {

// A transfer between two tensors, or between a tensor and a host buffer. The host buffer is
// borrowed from the caller until the request has completed, and is accessed only while the request
// runs. The request keeps the storage of tensors alive.
struct Transfer {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const Storage> target, source;  // null for a host buffer
};

class TransferTask final : public RequestTask {
 public:
  TransferTask(std::shared_ptr<device::Device> device, UnitContext unit)
      : RequestTask(std::move(unit)), device_(std::move(device)) {}

  void fill(Transfer transfer, StatusTarget target) noexcept;
  Status run(queue::RunControl& control) noexcept override;
  std::string describe(const queue::RunPosition&) const override;

 private:
  void drop_references() noexcept override { transfer_ = {}; }
  Status transfer(queue::RunControl& control) noexcept;

  const std::shared_ptr<device::Device> device_;
  Transfer transfer_;
};

}  // namespace millrace::nrt
