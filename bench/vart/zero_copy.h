// Measures binding tensors through the VART-ML face against the native API; nothing is copied.
#pragma once

#include <string>

namespace millrace::bench {

void report_zero_copy(const std::string& archive);

}  // namespace millrace::bench
