// Reads environment variables as text, numbers and booleans. Thread-safe as long as no thread
// changes the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace {

// Returns the value of a variable. It is empty if the variable is not set, or if a process with
// raised rights does not read it (guarded_variables.h). All variables of Millrace must be read by
// this function.
std::string_view environment_variable(const char* name);
// Returns the sorted names of the variables that begin with `prefix` and are set to a non-empty
// value.
std::vector<std::string> variables_with_prefix(std::string_view prefix);
// Returns the number in a variable; `otherwise` if it is not set or empty. kInvalidArgument names
// the variable and the range.
Result<uint64_t> number_variable(const char* name, uint64_t otherwise, uint64_t least,
                                 uint64_t most);
// Returns the boolean in a variable: 0, 1, true or false, in upper or lower case; `otherwise` if it
// is not set or empty. kInvalidArgument names the variable and the valid values.
Result<bool> switch_variable(const char* name, bool otherwise);
// Parses the whole text as a decimal number; kInvalidArgument for any other text.
Result<uint64_t> parse_number(std::string_view text);

}  // namespace millrace
