// Conversion of std::any payloads, for the types that programs pass in practice: integers of any
// width and signedness, bool or integer for switches, and the common string types.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <string>

namespace millrace::vartml {

// Return nullopt when the payload has another type. An unsigned integer that exceeds the range of
// int64_t saturates to its largest value.
std::optional<int64_t> integer_in(const std::any& payload);
std::optional<bool> switch_in(const std::any& payload);
std::optional<std::string> string_in(const std::any& payload);

// Returns the text of a payload for messages: its value, or its type if that is none of the above.
std::string describe(const std::any& payload);

}  // namespace millrace::vartml
