// Text and JSON of what `millrace top` shows. Thread-safe.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "cli/top/top_rows.h"

namespace millrace::cli {

inline constexpr size_t kAnyWidth = std::numeric_limits<size_t>::max();

// Returns the lines of a table. Where the terminal has too few columns for the failed jobs, less
// important columns are left out; what is wider all the same is for the caller to cut off. Names
// are escaped (base/printable.h), and shortened unless the width is kAnyWidth.
std::vector<std::string> top_lines(const std::vector<ProcessRows>& rows, size_t width = kAnyWidth);
// Returns one line.
std::string top_json(const std::vector<ProcessRows>& rows);

}  // namespace millrace::cli
