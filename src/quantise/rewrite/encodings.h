// Chooses the quantised encodings of values (type, scale and zero point) from calibrated ranges.
// Encodings are per tensor: one scale for all elements. Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "quantise/calibrate/collect.h"
#include "quantise/calibrate/range.h"
#include "quantise/rewrite/selection.h"

namespace millrace::quantise {

// A quantised encoding. Functions of this header make ones with a single scale.
struct Encoding {
  tensor::DataType type = tensor::DataType::kInt8;
  graph::Quantisation quantisation;
  friend bool operator==(const Encoding&, const Encoding&) = default;
};

// By value of a graph: its encoding, or nothing if it stays in floating point.
using Encodings = std::vector<std::optional<Encoding>>;

struct EncodingOptions {
  RangeMethod method = RangeMethod::kPercentile;
  // Whether inputs and outputs have the encoding of the board, board_encoding_of().
  bool board_boundaries = false;
};

// Returns the encoding for a range: UINT8 with zero point 0 if it has no negative values, as after
// a Relu; INT8 with zero point 0 (symmetric) if its shorter side is at least half as long as the
// longer one; otherwise UINT8 with a zero point (asymmetric), since a symmetric encoding would
// waste more than half of the shorter side's integers.
Encoding encoding_of(const Range& range);

// Returns the encoding that the board's programs expect of a boundary: INT8 with zero point 0, and
// as scale the least power of two that is at least 1/128 of the longer side. So at most the values
// beyond 127 scales on the positive side saturate.
Encoding board_encoding_of(const Range& range);

// Returns the range of real values that an encoding represents.
Range range_of(const Encoding& encoding);

// Returns the encodings of all of selection.values. Values share one encoding if a node only moves
// elements from one to the other, which includes max pooling. An operand of a Concat shares the
// result's if their ranges are similar. Requirement: `calibration` has statistics of all these
// values.
Encodings choose_encodings(const graph::Graph& graph, const Selection& selection,
                           const Calibration& calibration, const EncodingOptions& options);

}  // namespace millrace::quantise
