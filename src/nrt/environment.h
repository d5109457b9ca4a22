// Environment variables as numbers, names and switches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::nrt {

// Empty when it is not set.
std::string_view variable(const char* name);
// The names of those that are set, not empty and begin with `prefix`, in order.
std::vector<std::string> set_variables(std::string_view prefix);
// `otherwise` when it is not set or empty. kInvalidArgument names the variable and the range.
Result<uint64_t> number_variable(const char* name, uint64_t otherwise, uint64_t least,
                                 uint64_t most);
// 0, 1, true or false, in any case; `otherwise` when it is not set or empty. kInvalidArgument names
// the variable.
Result<bool> switch_variable(const char* name, bool otherwise);
// The whole text as a number in decimal.
Result<uint64_t> parse_number(std::string_view text);

}  // namespace millrace::nrt
