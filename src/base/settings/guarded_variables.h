// Variables that a process with raised rights (AT_SECURE: setuid, setgid, file capabilities) does
// not read. Whoever starts such a process chooses its environment, and must not choose by it which
// code the process runs, which files it writes, or which results it gives.
//
// Thread-safe as long as no thread changes the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Whether it names code, a file or folder to be written, a folder of weights, or something that
// replaces results or makes jobs fail.
bool is_guarded_variable(std::string_view name) noexcept;

// The guarded variables that are set, and are not read in this process; empty without raised
// rights.
std::vector<std::string> ignored_variables();
// A line that warns of them; empty where there are none, and once the process has had one.
std::string warning_of_ignored_variables();

}  // namespace millrace
