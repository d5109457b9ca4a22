// Measures the gain of two jobs in flight over synchronous execution, with host work of half the
// device's time per frame, and how close they come to the rate of the device alone.
#pragma once

#include <string>

namespace millrace::bench {

void report_host_stage(const std::string& archive);

}  // namespace millrace::bench
