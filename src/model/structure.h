// The checks of an archive's structure that do not depend on the meaning of the graph.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "model/archive_header.h"

namespace millrace::model {

namespace format {
struct Archive;
}

// Verifies the checksum, runs the FlatBuffers verifier, and checks that the segments are within the
// segment area of `header.segments_length` bytes, aligned, in ascending order and disjoint. The
// result points into `bytes`. Requirement: `bytes` are exactly the structure, aligned to 8.
// kCorruptData, with the reason.
Result<const format::Archive*> verify_structure(std::span<const std::byte> bytes,
                                                const Header& header);

}  // namespace millrace::model
