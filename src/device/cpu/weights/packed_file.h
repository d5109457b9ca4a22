// A file of packed weights, from which programs of any process are loaded without packing them
// again, and which they share in memory.
//
//   magic (16 bytes), key (16 bytes), number of constants (8 bytes)
//   for each constant XXH3-64 of its bytes (8 bytes)
//   zeros up to a multiple of 4096, then the constants
//
// Integers are in the order of bytes of the processor, whose layouts the constants have.
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/files/mapped_file.h"

namespace millrace::device::cpu {

// XXH3-128 of all that the packed weights follow from.
using PackedKey = std::array<std::byte, 16>;
PackedKey packed_key(std::string_view all);

// The bytes in front of so many constants.
size_t packed_head_bytes(size_t constants);
// Requirement: `head` has packed_head_bytes(checksums.size()) bytes.
void write_packed_head(std::span<std::byte> head, const PackedKey& key,
                       std::span<const uint64_t> checksums);

// The name of the file in the folder that the variable MILLRACE_PACKED_WEIGHTS names; empty where
// it is not set.
std::string packed_path(const PackedKey& key);
bool has_packed_folder();

// The file at `path`, which must have that key and so many constants and be `bytes` long. The
// checksums are left to the caller. kNotFound where there is none, kCorruptData where it is another
// one, otherwise as MappedFile::open.
Result<std::shared_ptr<const model::MappedFile>> open_packed(const std::string& path,
                                                             const PackedKey& key, size_t constants,
                                                             size_t bytes);
// Of a constant of a file that is open.
uint64_t packed_checksum(const model::MappedFile& file, size_t constant);

}  // namespace millrace::device::cpu
