// The memory banks the device shows. All are the same memory.
#pragma once

#include <cstdint>

namespace millrace::vartml {

inline constexpr uint32_t kMemoryBanks = 4;

}  // namespace millrace::vartml
