// value_or_throw, check_or_throw: failures of the core as the exceptions of VART-X.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace millrace::vartx {

// Throws std::invalid_argument for what the caller did wrong, and std::runtime_error for the rest;
// `what` begins the message.
inline void check_or_throw(const Status& status, std::string_view what) {
  if (status.ok()) return;
  const std::string message = fmt::format("{}: {}", what, status.message());
  if (status.code() == StatusCode::kInvalidArgument) throw std::invalid_argument(message);
  throw std::runtime_error(message);
}

template <class T>
T value_or_throw(Result<T> result, std::string_view what) {
  check_or_throw(result.ok() ? Status() : result.status(), what);
  return *std::move(result);
}

}  // namespace millrace::vartx
