// Archive: the container of a compiled model, read side.
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
  // A regular file that starts with the archive magic, or a directory that contains a subdirectory
  // `vaiml_par_0`. kNotFound, kIoError, kInvalidArgument (a directory without vaiml_par_0),
  // kCorruptData, kUnsupported.
  static Result<std::shared_ptr<const Archive>> open(const std::string& path);
  // The file form from memory; `owner` keeps the bytes alive. Bytes that do not start on a 64-byte
  // boundary are copied to one that does (kOutOfMemory).
  static Result<std::shared_ptr<const Archive>> from_memory(std::span<const std::byte> bytes,
                                                            std::shared_ptr<const void> owner);

  virtual ~Archive() = default;

  // The structure, verified; valid while the archive lives.
  virtual const format::Archive& root() const = 0;
  // The size of the structure: a valid root() has no more content than that.
  virtual uint64_t structure_bytes() const = 0;
  virtual uint32_t segment_count() const = 0;
  // The bytes of a segment where they are mapped, 64-byte aligned; empty when out of range.
  virtual std::span<const std::byte> segment(uint32_t index) const = 0;
  // Compares a segment's bytes with its checksum, for which it reads all of them. graph::decode
  // does so for every constant. kCorruptData, or kInvalidArgument out of range.
  virtual Status verify_segment(uint32_t index) const = 0;
  // The path that was opened, for messages; empty for from_memory.
  virtual const std::string& path() const = 0;
};

}  // namespace millrace::model
