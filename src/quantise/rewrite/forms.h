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
struct StoredForm {
  tensor::DataType type = tensor::DataType::kInt8;
  graph::Quantisation quantisation;
  friend bool operator==(const StoredForm&, const StoredForm&) = default;
};

// By value of a graph: its encoding, or nothing if it stays in floating point.
using Forms = std::vector<std::optional<StoredForm>>;

struct FormOptions {
  RangeMethod method = RangeMethod::kPercentile;
  // Whether inputs and outputs have the encoding of the board, board_form_of().
  bool board_boundaries = false;
};

// Returns the encoding for a range: UINT8 with zero point 0 if it has no negative values, as after
// a Relu; INT8 with zero point 0 (symmetric) if its shorter side is at least half as long as the
// longer one; otherwise UINT8 with a zero point (asymmetric), since a symmetric encoding would
// waste more than half of the shorter side's integers.
StoredForm form_of(const Range& range);

// Returns the encoding that the board's programs expect of a boundary: INT8 with zero point 0, and
// as scale the least power of two that is at least 1/128 of the longer side. So at most the values
// beyond 127 scales on the positive side saturate.
StoredForm board_form_of(const Range& range);

// Returns the range of real values that an encoding represents.
Range range_of(const StoredForm& form);

// Returns the encodings of all of selection.values. Values share one encoding if a node only moves
// elements from one to the other, which includes max pooling. An operand of a Concat shares the
// result's if their ranges are similar. Requirement: `calibration` has statistics of all these
// values.
Forms choose_forms(const graph::Graph& graph, const Selection& selection,
                   const Calibration& calibration, const FormOptions& options);

}  // namespace millrace::quantise
