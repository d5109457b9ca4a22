// The address at which the ranks of a benchmark meet.
#pragma once

#include <string>

namespace millrace::bench {

// "127.0.0.1:PORT", of a port that is free now. Throws std::runtime_error when there is none.
std::string free_meeting_place();

}  // namespace millrace::bench
