// Helpers to write HTML: escaping, and data URIs. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace::cli {

// Escapes a text for an element or a quoted attribute, so that nothing in it is markup. Control
// characters become blanks and, in a text that is not valid UTF-8, bytes beyond ASCII become '?'.
std::string html_escaped(std::string_view text);

// Returns a data URI with the bytes in base64; `type` is a MIME type such as "image/png".
std::string data_uri(std::string_view type, std::span<const std::byte> bytes);

}  // namespace millrace::cli
