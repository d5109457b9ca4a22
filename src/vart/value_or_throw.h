// value_or_throw: for calls of the API that report failures as std::runtime_error.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/status.h"
#include "vart/vart_npu_tensor.hpp"

namespace millrace::vartml {

template <class T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return *std::move(result);
}

// The same; the message names the tensor.
template <class T>
T value_or_throw(Result<T> result, const ::vart::NpuTensorInfo& info) {
  if (!result.ok())
    throw std::runtime_error(
        fmt::format("tensor \"{}\": {}", info.name, result.status().message()));
  return *std::move(result);
}

}  // namespace millrace::vartml
