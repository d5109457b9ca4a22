// States what the CPU device can run. This is part of the core, not of the plugin, so that models
// are compiled for the device without oneDNN. Thread-safe.
#pragma once

#include "graph/capabilities.h"

namespace millrace::device::cpu {

graph::Capabilities capabilities() noexcept;

}  // namespace millrace::device::cpu
