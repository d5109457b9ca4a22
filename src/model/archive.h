// Archive: reads the container of a compiled model; archive_writer.h writes it.
//
// One `.rai` file, mapped read-only, or the same content as a directory (DIR/vaiml_par_0/...): a
// fixed header, a FlatBuffer that holds structure only (schema: archive.fbs), and segments
// (weights) that are used directly from the mapping. docs/rai-format.md describes both forms byte
// by byte.
//
// Opening verifies the header, the structure's checksum, the FlatBuffer (by its own verifier), and
// every segment's offset, alignment and length against the file. The meaning of the structure
// (graph, shapes) is checked by graph/archive/codec.h. A file that is truncated, edited or hostile
// gives kCorruptData with the reason, a newer format version kUnsupported; never a crash.
//
// An Archive is immutable and thread-safe. Its bytes are those of the mapped file: a file must be
// replaced by rename (as archive_writer.h does), never changed or shortened while it is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace millrace::model {

namespace format {
struct Archive;  // the FlatBuffer root, generated from archive.fbs
}

class Archive {
 public:
  // Opens a regular file that starts with the archive magic, or a directory that contains a
  // subdirectory `vaiml_par_0`. kNotFound, kIoError, kInvalidArgument (a directory without
  // vaiml_par_0), kCorruptData, kUnsupported.
  static Result<std::shared_ptr<const Archive>> open(const std::string& path);
  // Opens the file form in memory. The archive holds `owner`, which must keep the bytes alive.
  // Bytes that are not aligned to 64 are copied (kOutOfMemory).
  static Result<std::shared_ptr<const Archive>> from_memory(std::span<const std::byte> bytes,
                                                            std::shared_ptr<const void> owner);

  virtual ~Archive() = default;

  // The verified structure; valid as long as the archive exists.
  virtual const format::Archive& root() const = 0;
  // The size of the structure in bytes, an upper bound for the contents of root().
  virtual uint64_t structure_bytes() const = 0;
  virtual uint32_t segment_count() const = 0;
  // The bytes of a segment in the mapping, aligned to 64; empty if `index` is out of range.
  virtual std::span<const std::byte> segment(uint32_t index) const = 0;
  // Compares the bytes of a segment, all of which it reads, with the checksum. graph::decode calls
  // it for every constant. kCorruptData on a mismatch, kInvalidArgument if `index` is out of range.
  virtual Status verify_segment(uint32_t index) const = 0;
  // The path that was opened, for messages; empty for from_memory().
  virtual const std::string& path() const = 0;
};

}  // namespace millrace::model
