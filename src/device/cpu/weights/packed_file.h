// A file of packed weights, from which programs of any process are loaded without packing them
// again, and which they share in memory.
//
//   magic (16 bytes)
//   XXH3-128 of the constants of the model, of their layouts, and of the packing code, which is
//     identified by the version of oneDNN and the instructions that it used
//     (16 bytes each)
//   number of constants (8 bytes)
//   XXH3-64 of everything above, and of the checksums that follow (8 bytes)
//   for each constant XXH3-64 of its bytes (8 bytes)
//   zeros up to a multiple of 4096, then the constants
//
// Integers are in the byte order of the processor, and constants are in the layouts chosen for it.
//
// The checksums find files that are damaged or mixed up. They cannot find a forged one, since
// anybody can compute them. So a file is only read where nobody but the user and root could have
// written it (base/files/trusted_file.h).
//
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

using PackedHash = std::array<std::byte, 16>;
// Everything that determines packed weights. The name of a file is the hash of it.
struct PackedOrigin {
  PackedHash constants, layouts, maker;
  bool operator==(const PackedOrigin&) const = default;
};
// Returns the XXH3-128 hash.
PackedHash packed_hash(std::string_view all);

// Size of what precedes so many constants, in bytes.
size_t packed_head_bytes(size_t constants);
// Requirement: `head` has packed_head_bytes(checksums.size()) bytes.
void write_packed_head(std::span<std::byte> head, const PackedOrigin& origin,
                       std::span<const uint64_t> checksums);

// Returns the folder that the variable MILLRACE_PACKED_WEIGHTS names; empty where it is not set,
// and for a process with raised rights.
std::string packed_folder();
// Returns the path of the file in the folder.
std::string packed_path(const std::string& folder, const PackedOrigin& origin);

// Opens the file at `path`, which must have that origin and number of constants, and `bytes` bytes.
// The caller has to check the checksums of the constants. kNotFound where there is no file,
// kCorruptData where it does not match, otherwise as MappedFile::open_trusted.
Result<std::shared_ptr<const model::MappedFile>> open_packed(const std::string& path,
                                                             const PackedOrigin& origin,
                                                             size_t constants, size_t bytes);
// Returns the checksum of a constant of a file that is open.
uint64_t packed_checksum(const model::MappedFile& file, size_t constant);

}  // namespace millrace::device::cpu
