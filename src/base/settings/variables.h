// The list of all environment variables that Millrace reads.
//
// Thread-safe as long as no thread changes the environment.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Returns the names of all variables MILLRACE_... that any part of the project reads.
std::span<const std::string_view> known_variables() noexcept;

// Returns the names of variables MILLRACE_... that are set but unknown, mostly misspelt ones.
std::vector<std::string> unknown_variables();
// Returns a warning that lists them; empty if there are none, and after the first such call.
std::string warning_of_unknown_variables();

}  // namespace millrace
