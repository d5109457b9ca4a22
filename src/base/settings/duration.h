// Durations as environment variables contain them: a whole number with its unit. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace millrace {

// Reads "500us", "2ms", "10s" (units ns, us, ms, s), more than zero and at most a year, into
// `duration` and returns an empty text. Otherwise `duration` is unchanged, and the returned text
// says what is wrong, in a form that continues a message after the quoted `text` ("is no
// duration").
std::string read_duration(std::string_view text, std::chrono::nanoseconds& duration);

}  // namespace millrace
