// Formats numbers for reports on a quantisation. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace::cli {

// Returns a text such as "42.1"; "exact" for infinity, "none" for NaN and minus infinity.
std::string snr_text(double snr_db);
// Returns a text such as "0.998712", or "-" for NaN.
std::string cosine_text(double cosine);
// Returns a text such as "13.95 MB", in units of a million bytes, or "512 bytes".
std::string size_text(uint64_t bytes);
// Returns a time in the unit that fits, with four digits: "812.0 ns", "1.234 ms", "12.50 s".
std::string time_text(double nanoseconds);
// Returns a text such as "1.234", or "-" if there is no value.
std::string milliseconds_text(const std::optional<double>& milliseconds);
// Returns the ratio of two numbers, such as "3.90 times"; empty if one of them is not positive.
std::string ratio_text(double larger, double smaller);

}  // namespace millrace::cli
