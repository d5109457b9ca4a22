// Writing the files of traces and profiles.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::nrt::trace {

// Writes a whole file, and atomically replaces an existing one. kIoError names the file.
Status write_file(const std::string& path, const std::string& text);
// Tests whether write_file() could write the file now; leaves no file behind. kIoError names the
// file.
Status check_file(const std::string& path);
// Creates the directory of the file, and then does what check_file() does.
Status prepare_file(const std::string& path);

}  // namespace millrace::nrt::trace
