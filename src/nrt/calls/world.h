// The ranks of a collective job: this process is the only one.
#pragma once

#include <cstdint>

#include "nrt/nrt_status.h"

namespace millrace::nrt {

// NRT_INVALID for a rank that is not in a world of that size; NRT_FAILURE, with a line in the log,
// for a world of more than one.
NRT_STATUS check_world(const char* call, uint32_t rank, uint32_t ranks) noexcept;

}  // namespace millrace::nrt
