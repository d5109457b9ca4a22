// Copies memory of the program, which a wrong program may have freed. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"

namespace millrace::record {

// Reads the memory by a system call, which fails where an access would end the process. kIoError if
// there is no memory at some of the addresses, or if the system does not let the process look.
// Throws std::bad_alloc.
Result<std::vector<std::byte>> copy_of(const void* data, size_t bytes);

}  // namespace millrace::record
