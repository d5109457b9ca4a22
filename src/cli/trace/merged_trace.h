// Puts the traces of several processes together, such as those of the ranks of one program. Their
// times are brought onto one axis by the time of day at which each recording began. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// Reads the files of traces, JSON or pages, and returns the text of a trace with all of them. Each
// is named by its ranks, or else by its process. Files are read one after another. kInvalidArgument
// names the file that is no trace, or none that can be merged; kNotFound or kIoError if one cannot
// be read.
Result<std::string> merged_trace(const std::vector<std::string>& paths);

}  // namespace millrace::cli
