// free_meeting_place(): the address at which the ranks of a benchmark meet.
#pragma once

#include <string>

namespace millrace::bench {

// Returns "127.0.0.1:PORT" with a port that is free now. Throws if there is none.
std::string free_meeting_place();

}  // namespace millrace::bench
