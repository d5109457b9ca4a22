// DescriptorClaim: counts one of the process's file descriptors as used by memory, for as long as
// the memory lives.
//
// A process may have as few as 1,024 descriptors, and the program needs them for its files and
// sockets. Once the claims have reached half of what RLIMIT_NOFILE allows, memory that the library
// makes keeps no descriptor. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace millrace::memory {

class DescriptorClaim {
 public:
  // For memory that can exist without a descriptor: nothing once memory holds half of the limit.
  static std::optional<DescriptorClaim> try_make() noexcept;
  // For memory that needs its descriptor: always succeeds.
  static DescriptorClaim make() noexcept;
  // The soft limit of the process, as it is now.
  static uint64_t limit() noexcept;

  DescriptorClaim(DescriptorClaim&& other) noexcept : held_(std::exchange(other.held_, false)) {}
  DescriptorClaim& operator=(DescriptorClaim&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~DescriptorClaim();

 private:
  DescriptorClaim() noexcept = default;

  bool held_ = true;
};

}  // namespace millrace::memory
