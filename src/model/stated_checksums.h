// The checksums that the open archives of this process state of their segments, found by where a
// segment lies. Who has its bytes alone can ask which they are without reading them.
//
// What an archive states need not be true before it is verified: of damaged bytes it is the
// checksum of others. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace millrace::model {

// For as long as it lives, `bytes` are a segment with that checksum.
class StatedChecksum {
 public:
  StatedChecksum(std::span<const std::byte> bytes, uint64_t checksum);
  StatedChecksum(StatedChecksum&& other) noexcept;
  StatedChecksum& operator=(StatedChecksum&&) = delete;
  ~StatedChecksum();

 private:
  std::span<const std::byte> bytes_;
};

// None where `bytes` are not a whole segment of an open archive.
std::optional<uint64_t> stated_checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
