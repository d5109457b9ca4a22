// Durations as people write them in environment variables: a whole number with its unit. Any
// thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace millrace {

// "500us", "2ms", "10s" (units ns, us, ms, s), more than nothing and at most a year. Gives why
// `text` makes no sense, for example "is no duration", to stand behind it in a message; empty when
// it does, and only then is `duration` set.
std::string read_duration(std::string_view text, std::chrono::nanoseconds& duration);

}  // namespace millrace
