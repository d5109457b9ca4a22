// The checksums of archives: XXH3 with seed 0. They are computed with the widest vectors that the
// processor has and MILLRACE_MAX_ISA allows, which does not change the result. Speed matters, since
// no other code reads all weights as often. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace millrace::model {

// Returns the 64-bit XXH3, which protects all parts of an archive.
uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

// Returns the high and the low half of the 128-bit XXH3. It is used where equal checksums are taken
// to mean equal bytes.
std::pair<uint64_t, uint64_t> long_checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
