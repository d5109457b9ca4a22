// ProgramCache: shares programs that were loaded from archives with the same content, with the same
// profile of shapes. Thread-safe, as long as no thread changes the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>

#include "base/status.h"
#include "device/device.h"

namespace millrace::runtime {

// The cache of one device, which must outlive it.
class ProgramCache {
 public:
  explicit ProgramCache(device::Device& device) noexcept : device_(device) {}

  // Returns the program of an archive in memory: the one that was loaded before, if it still
  // exists; otherwise it is loaded by load_program(). The cache does not keep programs alive. Only
  // one thread loads at a time; others wait.
  Result<std::shared_ptr<const device::Program>> load(std::span<const std::byte> archive);

 private:
  // XXH3-128 of the bytes, and the profile that the environment asks for.
  using Key = std::tuple<uint64_t, uint64_t, std::string>;

  device::Device& device_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const device::Program>> programs_;
};

}  // namespace millrace::runtime
