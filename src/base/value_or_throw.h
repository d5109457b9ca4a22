// value_or_throw, check_or_throw: convert a failure to an exception, for APIs whose contract
// requires exceptions. All other code reports failures by Status.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace millrace {

// Throws std::invalid_argument for errors of the caller (kInvalidArgument, kNotFound), and
// std::runtime_error for other failures. The message begins with `what`.
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
