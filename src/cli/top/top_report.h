// Text and JSON of what `millrace top` shows. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/top/top_rows.h"

namespace millrace::cli {

// Returns the lines of a table. Names are escaped (base/printable.h).
std::vector<std::string> top_lines(const std::vector<ProcessRows>& rows);
// Returns one line.
std::string top_json(const std::vector<ProcessRows>& rows);

}  // namespace millrace::cli
