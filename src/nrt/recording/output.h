// The files that traces and profiles go to.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::nrt::trace {

// Writes a whole file and replaces one that has the name. kIoError names the file.
Status write_file(const std::string& path, const std::string& text);
// Whether write_file could write such a file now; leaves nothing behind. kIoError names the file.
Status check_file(const std::string& path);
// Makes the directory of the file, then as check_file. kIoError names the file.
Status prepare_file(const std::string& path);

}  // namespace millrace::nrt::trace
