// Reads the std::any payloads that programs really pass: integers of any width and signedness, bool
// or integer for switches, the usual kinds of string.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <string>

namespace millrace::vartml {

// Empty when the payload is of another type. An unsigned number beyond the range of int64_t reads
// as its largest value.
std::optional<int64_t> integer_in(const std::any& payload);
std::optional<bool> switch_in(const std::any& payload);
std::optional<std::string> string_in(const std::any& payload);

// The payload as messages show it: its value, or its type where it is none of the above.
std::string describe(const std::any& payload);

}  // namespace millrace::vartml
