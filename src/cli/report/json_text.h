// Writes the JSON of commands with as many digits as its numbers are worth. Thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace millrace::cli {

// Rounds the numbers, and returns the JSON as text: in one line, or indented by two blanks. A
// number that is a 32-bit float has the fewest digits that give that float again; others, such as
// times and means, have six significant digits. Bytes that are not UTF-8, which names and paths may
// have, are replaced; NaN and infinity, which JSON does not have, become null.
void round_numbers(nlohmann::ordered_json& json);
std::string json_line(nlohmann::ordered_json json);
std::string json_lines(nlohmann::ordered_json json);  // with a newline at the end

}  // namespace millrace::cli
