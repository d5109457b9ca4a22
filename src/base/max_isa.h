// MILLRACE_MAX_ISA: the upper limit for the instruction sets that are used, whatever the processor
// has. It limits oneDNN as well as Millrace's own vector loops, for tests and comparisons.
//
// Thread-safe as long as no thread changes the environment.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace millrace {

// Instruction sets in ascending order: each includes those before it. kAmx means no limit.
enum class MaxIsa : uint8_t { kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };

// Reads the variable: avx2, avx512, avx512_vnni, avx512_bf16 or amx, in upper or lower case; kAmx
// if it is not set or empty. kInvalidArgument names the variable and the valid values.
Result<MaxIsa> max_isa();

}  // namespace millrace
