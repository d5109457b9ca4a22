// Escapes messages for standard error. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace millrace::cli {

// Returns a message in printable form (base/printable.h): names in it may contain any bytes. A
// message is one line, or a list whose further lines are indented by two spaces. These line feeds
// are kept, others are escaped.
std::string printable_message(std::string_view text);

}  // namespace millrace::cli
