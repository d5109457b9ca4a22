// The few things that every HTML page needs. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace::cli {

// Text as it stands in an element or in a quoted attribute: none of it can become markup. Control
// characters become blanks and, in a text that is not UTF-8, all that is not ASCII a question mark.
std::string html_escaped(std::string_view text);

// The bytes as a URI that needs no file; `type` as "image/png".
std::string data_uri(std::string_view type, std::span<const std::byte> bytes);

}  // namespace millrace::cli
