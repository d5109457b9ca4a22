// Model: an archive loaded on a device, ready to run.
//
// Immutable and reference counted: copies share one loaded model and may be used from any thread.
// A model stays usable after the Device that loaded it is gone, on units of the same device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "millrace/tensor.hpp"

namespace millrace {

class Model {
 public:
  // An empty handle, to be assigned to: nothing else may be called on it.
  Model() noexcept = default;

  const std::string& name() const noexcept;
  // The frames a job may carry, each with memory of its own.
  uint32_t batch_size() const noexcept;
  // In the order in which jobs bind them. The spans live as long as any copy of the model.
  std::span<const TensorInfo> inputs() const noexcept;
  std::span<const TensorInfo> outputs() const noexcept;
  // Why the device does not compute what the archive asks for, for example FP32 instead of BF16;
  // human-readable, and empty where it does.
  const std::string& note() const noexcept;

  explicit operator bool() const noexcept { return impl_ != nullptr; }

  class Impl;

 private:
  friend class Device;
  friend class Unit;
  explicit Model(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace millrace
