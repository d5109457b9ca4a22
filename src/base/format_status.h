// Statuses with formatted messages. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/status.h"

namespace millrace {

// Returns a status with a formatted message. Never throws: if memory is exhausted, the message only
// says so.
template <class... Args>
Status format_status(StatusCode code, fmt::format_string<Args...> format, Args&&... args) noexcept {
  try {
    return {code, fmt::format(format, std::forward<Args>(args)...)};
  } catch (const std::exception&) {
    return {code, "out of memory for the message"};
  }
}

// Returns the C library's static text for an errno; "unknown error" if there is none.
const char* error_text(int error_number) noexcept;

}  // namespace millrace
