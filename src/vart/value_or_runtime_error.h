// value_or_runtime_error: unwraps a Result and throws every failure as std::runtime_error, for
// calls that the API specifies so. base/value_or_throw.h throws other types for invalid arguments.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/status.h"
#include "vart/vart_npu_tensor.hpp"

namespace millrace::vartml {

template <class T>
T value_or_runtime_error(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return *std::move(result);
}

// Does the same, with the name of the tensor in the message.
template <class T>
T value_or_runtime_error(Result<T> result, const ::vart::NpuTensorInfo& info) {
  if (!result.ok())
    throw std::runtime_error(
        fmt::format("tensor \"{}\": {}", info.name, result.status().message()));
  return *std::move(result);
}

}  // namespace millrace::vartml
