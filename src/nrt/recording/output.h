// The files that traces and profiles go to.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::nrt::trace {

// A whole file, in place of one that has the name. kIoError names the file.
Status write_file(const std::string& path, const std::string& text);
// Whether there could be such a file now; leaves nothing there. kIoError names the file.
Status check_file(const std::string& path);
// Makes the directory of a file that check_file then finds possible. kIoError names the file.
Status make_place_for(const std::string& path);

}  // namespace millrace::nrt::trace
