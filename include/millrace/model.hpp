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
  // Creates an empty handle. Only assignment, destruction and operator bool are allowed on it.
  Model() noexcept = default;

  const std::string& name() const noexcept;
  // Returns the maximum number of frames of a job. Each frame has memory of its own.
  uint32_t batch_size() const noexcept;
  // Return the tensors in the order in which jobs bind them. The spans are valid as long as any
  // copy of the model lives.
  std::span<const TensorInfo> inputs() const noexcept;
  std::span<const TensorInfo> outputs() const noexcept;
  // Returns a human-readable reason if the device does not compute as the archive states, for
  // example in FP32 instead of BF16; otherwise an empty text.
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
