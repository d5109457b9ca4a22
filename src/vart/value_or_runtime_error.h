// value_or_runtime_error: for calls of the API that report every failure as std::runtime_error,
// where base/value_or_throw.h distinguishes what the caller did wrong.
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

// The same; the message names the tensor.
template <class T>
T value_or_runtime_error(Result<T> result, const ::vart::NpuTensorInfo& info) {
  if (!result.ok())
    throw std::runtime_error(
        fmt::format("tensor \"{}\": {}", info.name, result.status().message()));
  return *std::move(result);
}

}  // namespace millrace::vartml
