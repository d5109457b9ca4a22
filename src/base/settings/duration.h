// Parsing of durations in environment variables: an integer with a unit. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace millrace {

// Parses a duration such as "500us", "2ms" or "10s" (units ns, us, ms, s), greater than zero and at
// most a year, into `duration`, and returns an empty string. Otherwise `duration` is unchanged, and
// the result says what is wrong, as a predicate that follows the quoted `text` in a message.
std::string read_duration(std::string_view text, std::chrono::nanoseconds& duration);

}  // namespace millrace
