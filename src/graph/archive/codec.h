// Converts between CompiledModel and archive: encode for the compiler, decode for the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "model/archive.h"
#include "model/archive_writer.h"

namespace millrace::graph {

// Limit of the memory plan: more than any machine can give to one context.
inline constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 40;

// Limits the inputs, and also the outputs: callers and planners search them linearly, which costs
// no noticeable time up to this number.
inline constexpr size_t kMaxBoundaries = 4096;

// The model's constants become segments, referenced, not copied: `model` must outlive the result.
// Requirements: `model.inputs` and `model.outputs` list the graph's inputs and outputs in order
// (the archive holds them once), and names are UTF-8. The same model gives the same bytes.
model::ArchiveContent encode(const CompiledModel& model);

// Decodes and checks everything: enumerators, ids, names, shapes (each node's output against its
// shape function), constants (segment lengths against shapes), boundaries (both views against the
// graph's values), partitions, memory plan (no overlap of live values, nothing beyond the arena).
// Constants point into the archive and keep it alive. The checksums of all constants are compared,
// which reads them. kCorruptData says where, without the archive's path. Time and memory stay in
// proportion to the size of the archive, whatever it contains.
Result<CompiledModel> decode(const std::shared_ptr<const model::Archive>& archive);

// Checks a model as decode() does after reading it: kCorruptData says what is wrong. The compiler
// calls it, too, so that every model that it accepts can be loaded.
Status check_model(const CompiledModel& model);

// decode() in two parts, for callers that do something else while the checksums are compared. Like
// all decoded models, one that has not been verified is safe to use, whatever its constants hold;
// nothing that is computed from them may be given away before the verification.
Result<CompiledModel> decode_unverified(const std::shared_ptr<const model::Archive>& archive);
// Compares the checksums of all constants that the archive holds. Thread-safe.
Status verify_constants(const model::Archive& archive);

}  // namespace millrace::graph
