// Environment variables as text, numbers and switches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace {

// Returns the value of the variable. It is empty if the variable is not set, or if a process with
// raised rights does not read it (guarded_variables.h). Every variable of Millrace is read here.
std::string_view environment_variable(const char* name);
// The names of the variables that begin with `prefix`, are set and are not empty, sorted.
std::vector<std::string> variables_with_prefix(std::string_view prefix);
// `otherwise` when it is not set or empty. kInvalidArgument names the variable and the range.
Result<uint64_t> number_variable(const char* name, uint64_t otherwise, uint64_t least,
                                 uint64_t most);
// 0, 1, true or false, in any case; `otherwise` when it is not set or empty. kInvalidArgument names
// the variable.
Result<bool> switch_variable(const char* name, bool otherwise);
// The number that the whole text is, in decimal digits; kInvalidArgument for any other text.
Result<uint64_t> parse_number(std::string_view text);

}  // namespace millrace
