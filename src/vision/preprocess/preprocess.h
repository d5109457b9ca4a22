// Makes the input of a network from a picture: crops, resizes, changes colours, normalises,
// quantises, and stores in the tensor's own format, in one pass over the rows of the output. There
// is no picture in between: a row of the output is made from the rows of the source that it needs.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "vision/preprocess/axis.h"
#include "vision/preprocess/geometry.h"
#include "vision/preprocess/picture.h"
#include "vision/preprocess/row_store.h"

namespace millrace::vision {

// Makes the rows [first, last) of the output.
using RowTask = std::function<void(uint32_t first, uint32_t last)>;
struct RowWork {
  uint32_t rows = 0;
  // Pixels of the source that all rows together read: what the time grows with.
  uint64_t samples = 0;
  RowTask task;
};
// Calls the task so that its ranges cover all rows once each, on any threads, and returns when all
// calls have. Rows do not depend on each other: the result is the same bit for bit, however they
// are split.
using RowRunner = std::function<void(const RowWork& work)>;

// All rows on the caller's thread.
void run_serially(const RowWork& work);

struct PreprocessOptions {
  FitOptions fit{};
  Filter filter = Filter::kAuto;
  Normalisation normalisation{};
};

// Fills `output_region` of `target` from `input_region` of `source`, and returns the geometry that
// was applied. The rest of `target` is left alone. Padding is black before it is normalised: 0 in
// R, G and B, so it is stored as (0 - mean) * scale * factor. The pictures must not overlap.
//
// kInvalidArgument with the reason when a picture, a region or a parameter cannot be used; nothing
// has been written then. Throws std::bad_alloc where there is no memory for a few rows.
//
// Thread-safe for different targets.
Result<Geometry> preprocess(const SourcePicture& source, const Region& input_region,
                            const TargetPicture& target, const Region& output_region,
                            const PreprocessOptions& options, const RowRunner& run = run_serially);

}  // namespace millrace::vision
