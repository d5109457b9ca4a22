// The checksums that the open archives of this process state for their segments, found by the
// address of a segment. Code that has only its bytes can identify them without reading them.
//
// A stated checksum may be wrong until the archive is verified: if the bytes are damaged, it is
// that of the original ones. Thread-safe.
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

// Returns the checksum; none if `bytes` are not a whole segment of an open archive.
std::optional<uint64_t> stated_checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
