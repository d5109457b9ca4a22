// load_program(): opens an archive, verifies it and loads it on a device. The caller's
// floating-point environment has no effect and is not changed. Thread-safe, as long as no thread
// changes the environment variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "device/device.h"
#include "graph/archive/codec.h"

namespace millrace::runtime {

struct LoadedProgram {
  std::shared_ptr<device::Device> device;
  std::shared_ptr<const device::Program> program;
  uint32_t columns = graph::kColumnsOfAUnit;  // that the model occupies (Placement::columns)
};

// Opens the archive at `path` (a .rai file, or a directory with vaiml_par_0) and loads it on
// `device`. The model may need at most `memory_limit` bytes (load_within); with 0 only
// MILLRACE_MEMORY_LIMIT limits it. If a profile is named, the model has its shapes
// (static_model.h).
Result<std::shared_ptr<const device::Program>> load_program(const std::string& path,
                                                            device::Device& device,
                                                            uint64_t memory_limit = 0,
                                                            std::string_view profile = {});
// Load a model for the vendors' APIs, which support static shapes and some types only
// (static_model.h, vendor_boundary.h). The first takes an archive in memory (in the file form),
// which is copied; with a communicator, the program is that of one of its ranks
// (device::Device::load_for_rank). The second takes a path and the name of a profile, or none, and
// opens the device that device::open_device_of_program returns for the name.
Result<std::shared_ptr<const device::Program>> load_program(
    std::span<const std::byte> archive, device::Device& device,
    std::shared_ptr<ranks::Communicator> communicator = nullptr);
Result<LoadedProgram> load_program(const std::string& path,
                                   const std::optional<std::string>& device_name = std::nullopt,
                                   std::string_view profile = {});

}  // namespace millrace::runtime
