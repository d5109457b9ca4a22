// A table of the checksums that the open archives of this process state for their segments, keyed
// by address and size. Code that only has the bytes of a segment can identify them without reading
// them.
//
// A stated checksum is not verified: if the bytes are damaged, it is that of the original bytes.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace millrace::model {

// An entry of the table, which exists as long as this object.
class StatedChecksum {
 public:
  StatedChecksum(std::span<const std::byte> bytes, uint64_t checksum);
  StatedChecksum(StatedChecksum&& other) noexcept;
  StatedChecksum& operator=(StatedChecksum&&) = delete;
  ~StatedChecksum();

 private:
  std::span<const std::byte> bytes_;
};

// Returns the checksum; nullopt if `bytes` are not a whole segment of an open archive.
std::optional<uint64_t> stated_checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
