// Host work of half the device time per frame: what two jobs in flight gain over execute, and how
// near they come to the rate of the device.
#pragma once

#include <string>

namespace millrace::bench {

void report_host_stage(const std::string& archive);

}  // namespace millrace::bench
