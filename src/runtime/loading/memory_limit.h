// Limits the memory of a model. The sizes that the archive declares are compared with the limit
// before a device prepares the model; the sizes of the device's own plan are compared afterwards,
// before any job allocates memory. Thread-safe, as long as no thread changes the environment.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace millrace::runtime {

// Returns the smaller of `limit` and the environment variable MILLRACE_MEMORY_LIMIT, in bytes; 0
// means no limit. kInvalidArgument, naming the variable, if it cannot be parsed.
Result<uint64_t> memory_limit(uint64_t limit);

// Loads a model that may need at most `limit` bytes (0: no limit), and no more than
// MILLRACE_MEMORY_LIMIT: its weights, an arena and converted boundary tensors for each lane, and
// the boundary tensors of one job. Uses device.load(), or device.load_for_rank() with a
// communicator. A model that carries a network is loaded by load_dynamic(); the memory of its
// stages is not counted. kUnsupported for such a model with a communicator; kOutOfMemory, with the
// sizes, if the limit is exceeded; otherwise as device.load() and memory_limit().
Result<std::shared_ptr<const device::Program>> load_within(
    uint64_t limit, device::Device& device, std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator = nullptr);

}  // namespace millrace::runtime
