// The cases that a run leaves out. One line of a text file each, "node/test_adam  why it is left
// out"; lines that are empty or begin with # are comments.
#pragma once

#include <map>
#include <string>

#include "base/status.h"

namespace millrace::cli {

using Exclusions = std::map<std::string, std::string>;  // name of the case -> reason

// kNotFound, kIoError; kInvalidArgument, naming the line, where a reason is missing or a name comes
// twice.
Result<Exclusions> read_exclusions(const std::string& path);

}  // namespace millrace::cli
