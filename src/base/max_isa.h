// MILLRACE_MAX_ISA: the instructions beyond which nothing is computed, whatever the processor has.
// It caps the kernel library and vector loops alike, for tests and for times that compare.
//
// Thread-safe as long as no thread changes the environment.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace millrace {

// Each includes those before it. kAmx is no limit.
enum class MaxIsa : uint8_t { kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };

// avx2, avx512, avx512_vnni, avx512_bf16 or amx, in any case; kAmx where the variable is not set or
// empty. kInvalidArgument names the variable and what it takes.
Result<MaxIsa> max_isa();

}  // namespace millrace
