// The environment variables that a process with raised rights (AT_SECURE: setuid, setgid, or file
// capabilities) does not read. The user who starts such a process controls its environment, but
// must not thereby control which code it runs, which files it writes, or which results it computes.
//
// Thread-safe as long as no thread changes the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Returns whether the variable names code, a file or folder to be written, a folder of weights, or
// something that replaces results or makes jobs fail.
bool is_guarded_variable(std::string_view name) noexcept;

// Returns the guarded variables that are set but not read in this process; empty without raised
// rights.
std::vector<std::string> ignored_variables();
// Returns a warning that lists them; empty if there are none, and after the first such call.
std::string warning_of_ignored_variables();

}  // namespace millrace
