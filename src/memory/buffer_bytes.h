// The memory that the buffers of this process take. Thread-safe.
#pragma once

#include <cstdint>

namespace millrace::memory {

// Returns the bytes of all buffers (buffer.h) that have memory of their own: neither those that are
// wrapped or imported, nor slices.
uint64_t bytes_in_buffers() noexcept;

}  // namespace millrace::memory
