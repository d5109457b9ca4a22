// What a name in an archive may be. Thread-safe.
#pragma once

#include <string_view>

namespace millrace::graph {

// Whether the text is valid UTF-8 without NUL.
bool is_utf8(std::string_view text);

}  // namespace millrace::graph
