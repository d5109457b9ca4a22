// DescriptorClaim: one of the process's file descriptors, held for as long as memory lives.
//
// Descriptors belong to the program, which needs them for its files and sockets, and there may be
// as few as 1,024. Memory that the library makes goes without where claims have reached half of
// what RLIMIT_NOFILE allows. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace millrace::memory {

class DescriptorClaim {
 public:
  // For memory that can do without: none where memory holds its part already.
  static std::optional<DescriptorClaim> try_make() noexcept;
  // For memory that cannot: counted whatever the limit.
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
