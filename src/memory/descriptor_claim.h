// DescriptorClaim: counts one of the process's file descriptors as used by memory, as long as the
// claim exists.
//
// A process may have as few as 1,024 descriptors, and the program needs them for its files and
// sockets. Once the claims reach half of RLIMIT_NOFILE, new shared memory keeps no descriptor and
// cannot be exported. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace millrace::memory {

class DescriptorClaim {
 public:
  // Makes a claim for memory that can exist without a descriptor; nullopt when claims have reached
  // half of the limit.
  static std::optional<DescriptorClaim> try_make() noexcept;
  // Makes a claim for memory that needs its descriptor. Always succeeds.
  static DescriptorClaim make() noexcept;
  // Returns the present soft limit of the process.
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
