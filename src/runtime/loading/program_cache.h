// ProgramCache: programs by the content of their archives, so that the same bytes are loaded once.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/status.h"
#include "device/device.h"

namespace millrace::runtime {

// For one device, which outlives it.
class ProgramCache {
 public:
  explicit ProgramCache(device::Device& device) noexcept : device_(device) {}

  // The program of an archive in memory: one that still exists, or else what load_program() loads.
  // The cache does not keep a program alive. A second thread waits while one loads.
  Result<std::shared_ptr<const device::Program>> load(std::span<const std::byte> archive);

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // XXH3-128 of the bytes

  device::Device& device_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const device::Program>> programs_;
};

}  // namespace millrace::runtime
