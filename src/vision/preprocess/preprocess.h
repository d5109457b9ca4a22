// Preprocessing: makes the input tensor of a network from a picture. It crops, resizes, converts
// colours, normalises, quantises and stores in the format of the tensor, fused in one pass over the
// rows of the output, without an intermediate picture: each output row is computed from the source
// rows that it needs.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "vision/preprocess/axis.h"
#include "vision/preprocess/geometry.h"
#include "vision/preprocess/picture.h"
#include "vision/preprocess/row_store.h"

namespace millrace::vision {

// Computes the rows [first, last) of the output.
using RowTask = std::function<void(uint32_t first, uint32_t last)>;
struct RowWork {
  uint32_t rows = 0;
  // The number of source pixels that all rows together read, to which the time is proportional.
  uint64_t samples = 0;
  RowTask task;
};
// Calls the task, on any threads, with ranges that cover each row exactly once, and returns when
// all calls have returned. Rows are independent: the result has the same bits however they are
// divided.
using RowRunner = std::function<void(const RowWork& work)>;

// Computes all rows on the calling thread.
void run_serially(const RowWork& work);

struct PreprocessOptions {
  FitOptions fit{};
  Filter filter = Filter::kAuto;
  Normalisation normalisation{};
};

// Fills `output_region` of `target` from `input_region` of `source`, and returns the geometry that
// was applied. The rest of `target` is not changed. Padding is black (R = G = B = 0) and is
// normalised like pixels, so it is stored as (0 - mean) * scale * factor. The pictures must not
// overlap.
//
// kInvalidArgument, with the reason, when a picture, a region or a parameter is not valid; nothing
// has been written then. Throws std::bad_alloc when there is no memory for a few rows.
//
// Thread-safe for different targets.
Result<Geometry> preprocess(const SourcePicture& source, const Region& input_region,
                            const TargetPicture& target, const Region& output_region,
                            const PreprocessOptions& options, const RowRunner& run = run_serially);

}  // namespace millrace::vision
