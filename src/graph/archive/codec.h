// The codec between CompiledModel and the .rai archive (a FlatBuffer and segments of constants,
// docs/rai-format.md): the compiler encodes, the runtime decodes. Archives are untrusted input:
// decoding checks everything that later layers rely on. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "model/archive.h"
#include "model/archive_writer.h"

namespace millrace::graph {

// The largest arena of a memory plan: more than any machine can give to one context.
inline constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 40;

// The largest number of inputs, and of outputs. Callers and planners search them linearly, which
// takes no noticeable time up to this number.
inline constexpr size_t kMaxBoundaries = 4096;

// The columns that a model occupies on an NPU whose programs place models by columns: a multiple of
// four, the columns of one compute unit. They are a property of the archive, not of CompiledModel,
// since they make no difference to what a device computes.
inline constexpr uint32_t kColumnsOfAUnit = 4;
inline constexpr uint32_t kMostColumnsOfAModel = 65536;

// Encodes a model. Its constants become segments, which are referenced and not copied: `model` must
// outlive the result. Equal models give equal bytes.
// Requirements: `model.inputs` and `model.outputs` list the inputs and outputs of the graph in
// order (the archive holds them once), names are UTF-8, and `columns` is as described above.
model::ArchiveContent encode(const CompiledModel& model, uint32_t columns = kColumnsOfAUnit);

// Decodes an archive and checks all of it: enumerators, ids, names, shapes (the output of each node
// against its shape function), constants (segment lengths against shapes, and checksums, which
// reads all of them), inputs and outputs (both views against the values of the graph), partitions,
// and the memory plan (no overlap of live values, nothing outside the arena). The constants of the
// result point into the archive and keep it alive. kCorruptData says where, without the path of the
// archive. Time and memory are proportional to the size of the archive, whatever it contains.
Result<CompiledModel> decode(const std::shared_ptr<const model::Archive>& archive);

// Returns the columns that the archive states. kCorruptData if the number is out of range.
Result<uint32_t> columns_of(const model::Archive& archive);

// Checks a model as decode() does after reading it; kCorruptData says what is wrong. The compiler
// calls it as well, so that every model that it accepts can be loaded.
Status check_model(const CompiledModel& model);

// The two parts of decode(), for callers that do other work while the checksums are compared.
// decode_unverified() does everything but the checksums. Its result is safe to use, whatever the
// constants hold; but nothing that is computed from them may reach the caller before
// verify_constants() has succeeded.
Result<CompiledModel> decode_unverified(const std::shared_ptr<const model::Archive>& archive);
// Compares the checksums of all segments of constants. kCorruptData if one differs.
Status verify_constants(const model::Archive& archive);

}  // namespace millrace::graph
