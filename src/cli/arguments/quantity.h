// Reads counts, numbers and times of the command line, in the same forms for every option.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace millrace::cli {

// Parses a finite number, such as 0.5, 1e3 or 10k: k, M and G stand for a thousand, a million and
// a thousand millions. kInvalidArgument for anything else.
Result<double> parse_number(std::string_view text);

// Parses a number like parse_number() that is whole and not negative, such as 1000, 1e3 or 1k.
Result<uint64_t> parse_count(std::string_view text);

// Parses a time such as 10, 10s, 0.5s, 500ms, 20us, 5min or 1h, greater than zero and at most a
// year. Without a unit it is in seconds.
Result<std::chrono::nanoseconds> parse_time(std::string_view text);

}  // namespace millrace::cli
