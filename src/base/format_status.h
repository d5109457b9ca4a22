// Statuses whose message is formatted.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/status.h"

namespace millrace {

// For functions that must not throw: returns a status without the message if memory runs out.
template <class... Args>
Status format_status(StatusCode code, fmt::format_string<Args...> format, Args&&... args) noexcept {
  try {
    return {code, fmt::format(format, std::forward<Args>(args)...)};
  } catch (const std::exception&) {
    return {code, "no memory for the reason"};
  }
}

// The C library's text for an errno, in its own memory; "unknown error" if it has none.
const char* error_text(int error_number) noexcept;

}  // namespace millrace
