// From a path to a program on a device. The caller's floating-point environment has no effect and
// stays as it is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "device/device.h"

namespace millrace::runtime {

struct LoadedProgram {
  std::shared_ptr<device::Device> device;
  std::shared_ptr<const device::Program> program;
};

// Opens the archive at `path` (a .rai file, or a directory with vaiml_par_0) and loads it on
// `device`, or on the device that device::open_device_of_program gives for the name. The model may
// take `memory_limit` bytes (load_within), where 0 leaves it to MILLRACE_MEMORY_LIMIT.
Result<std::shared_ptr<const device::Program>> load_program(const std::string& path,
                                                            device::Device& device,
                                                            uint64_t memory_limit = 0);
// The same for the vendors' APIs, which know static shapes and some types only (static_model.h,
// vendor_boundary.h), from an archive in memory (the file form), which is copied, or from a path.
// With a communicator, the program is that of one of its ranks (device::Device::load_for_rank).
Result<std::shared_ptr<const device::Program>> load_program(
    std::span<const std::byte> archive, device::Device& device,
    std::shared_ptr<ranks::Communicator> communicator = nullptr);
Result<LoadedProgram> load_program(const std::string& path,
                                   const std::optional<std::string>& device_name = std::nullopt);

}  // namespace millrace::runtime
