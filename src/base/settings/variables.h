// The environment variables of the project: the one list of them.
//
// Thread-safe as long as no thread changes the environment.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// The names of all variables MILLRACE_... that any part of the project reads.
std::span<const std::string_view> known_variables() noexcept;

// The names MILLRACE_... that are set although nothing reads them: misspelt ones, mostly.
std::vector<std::string> unknown_variables();
// A line that warns of them; empty where there are none, and once the process has had one.
std::string warning_of_unknown_variables();

}  // namespace millrace
