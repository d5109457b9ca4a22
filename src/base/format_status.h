// Statuses whose message is formatted.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/status.h"

namespace millrace {

// For functions that must not throw: without memory for the message, a status without it.
template <class... Args>
Status format_status(StatusCode code, fmt::format_string<Args...> format, Args&&... args) noexcept {
  try {
    return {code, fmt::format(format, std::forward<Args>(args)...)};
  } catch (const std::exception&) {
    return {code, "no memory for the reason"};
  }
}

// What the C library says of an errno, in its own memory; "unknown error" where it says nothing.
const char* error_text(int error_number) noexcept;

}  // namespace millrace
