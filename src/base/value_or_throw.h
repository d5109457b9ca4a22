// value_or_throw, check_or_throw: failures as exceptions, for the faces whose contract requires
// them. What lies below reports them by Status.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace millrace {

// Throws std::invalid_argument for what the caller did wrong (kInvalidArgument, kNotFound), and
// std::runtime_error for the rest; `what` begins the message.
inline void check_or_throw(const Status& status, std::string_view what) {
  if (status.ok()) return;
  const std::string message = fmt::format("{}: {}", what, status.message());
  const bool callers =
      status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound;
  if (callers) throw std::invalid_argument(message);
  throw std::runtime_error(message);
}

template <class T>
T value_or_throw(Result<T> result, std::string_view what) {
  check_or_throw(result.ok() ? Status() : result.status(), what);
  return *std::move(result);
}

}  // namespace millrace
