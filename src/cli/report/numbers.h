// Numbers as the reports of a quantisation write them. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace::cli {

// "42.1"; "exact" for infinity, "none" for NaN.
std::string snr_text(double snr_db);
// "0.998712", or "-" for NaN.
std::string cosine_text(double cosine);
// "13.95 MB", in units of a million bytes, or "512 bytes".
std::string size_text(uint64_t bytes);
// "1.234", or "-" where there is none.
std::string milliseconds_text(const std::optional<double>& milliseconds);
// "3.9 times", of a larger to a smaller number; empty where one of them is not positive.
std::string ratio_text(double larger, double smaller);

}  // namespace millrace::cli
