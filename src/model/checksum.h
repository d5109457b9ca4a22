// The checksums of archives: XXH3 with seed 0, by the widest vectors that the processor has and
// MILLRACE_MAX_ISA allows, which does not change them. Weights are read by nothing else as often.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace millrace::model {

// XXH3-64: of everything in an archive.
uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

// XXH3-128, the high and the low half: for what is taken to be the same where it is equal.
std::pair<uint64_t, uint64_t> long_checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace millrace::model
