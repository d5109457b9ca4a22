// How much memory a model may take: what it declares is compared with a limit before a device
// prepares it, and what the device's own plan says before any job has memory. Thread-safe, as long
// as no thread changes the environment.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace millrace::runtime {

// `limit`, or MILLRACE_MEMORY_LIMIT where that is less; in bytes, 0 stands for none.
// kInvalidArgument names the variable when it makes no sense.
Result<uint64_t> memory_limit(uint64_t limit);

// device.load(), or device.load_for_rank() where there is a communicator, for a model that may take
// so many bytes, 0 for any number: its weights, an arena and converted boundary tensors for each
// lane, and the boundary tensors of one job. A model that has a network is loaded by
// load_dynamic(); what its stages take besides is not counted. kUnsupported for such a model with a
// communicator; kOutOfMemory says what it needs; otherwise as device.load() and memory_limit().
Result<std::shared_ptr<const device::Program>> load_within(
    uint64_t limit, device::Device& device, std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator = nullptr);

}  // namespace millrace::runtime
