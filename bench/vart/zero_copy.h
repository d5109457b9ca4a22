// Compares the time of execute() through the VART-ML face and the native API, with tensors that are
// bound without copies.
#pragma once

#include <string>

namespace millrace::bench {

void report_zero_copy(const std::string& archive);

}  // namespace millrace::bench
