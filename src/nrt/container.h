// The bytes that nrt_load is given.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"

namespace millrace::nrt {

// kUnsupported for a genuine NEFF, which holds instructions for a chip: names its version and what
// to load instead. Everything else is left to the reader of archives.
Status check_container(std::span<const std::byte> bytes);

}  // namespace millrace::nrt
