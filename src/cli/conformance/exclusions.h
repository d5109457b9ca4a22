// The cases that a run leaves out, from a text file with one case per line: its name, blanks, and
// the reason, such as "node/test_adam  no training". Empty lines, and lines that begin with #, are
// ignored. Thread-safe.
#pragma once

#include <map>
#include <string>

#include "base/status.h"

namespace millrace::cli {

using Exclusions = std::map<std::string, std::string>;  // name of the case -> reason

// Reads a file of exclusions. kNotFound, kIoError; kInvalidArgument, with the number of the line,
// if a reason is missing or a name occurs twice.
Result<Exclusions> read_exclusions(const std::string& path);

}  // namespace millrace::cli
