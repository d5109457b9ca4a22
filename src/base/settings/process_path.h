// The path of a file or folder that an environment variable names for each process.
#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns the path that the text means: "%p" stands for the id of this process, and the path is
// made absolute, since the program may change its working directory. Throws std::bad_alloc.
std::string process_path(std::string_view text);

}  // namespace millrace
