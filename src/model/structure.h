// The checks of an archive's structure that need no knowledge of graphs.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "model/archive_header.h"

namespace millrace::model {

namespace format {
struct Archive;
}

// Compares the checksum, runs the FlatBuffers verifier, then checks that every segment lies in the
// segment area of `header.segments_length` bytes, aligned, in ascending order and without overlap.
// The result points into `bytes`, which are exactly the structure, aligned to 8. kCorruptData with
// the reason.
Result<const format::Archive*> verify_structure(std::span<const std::byte> bytes,
                                                const Header& header);

}  // namespace millrace::model
