// The forms in which values are stored: type, scale and zero point, from calibrated ranges.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "quantise/calibrate/collect.h"
#include "quantise/calibrate/range.h"
#include "quantise/rewrite/selection.h"

namespace millrace::quantise {

struct StoredForm {
  tensor::DataType type = tensor::DataType::kInt8;
  graph::Quantisation quantisation;
  friend bool operator==(const StoredForm&, const StoredForm&) = default;
};

// The form of each value of a graph; nothing for those that stay floating point.
using Forms = std::vector<std::optional<StoredForm>>;

struct FormOptions {
  RangeMethod method = RangeMethod::kPercentile;
  // Whether inputs and outputs have the board's form, board_form_of().
  bool board_boundaries = false;
};

// The form for numbers of a range: UINT8 from 0 for a range without negative numbers, which is what
// a ReLU makes; INT8 with zero point 0 where both sides are about as wide; UINT8 with a zero point
// otherwise, since a symmetric one would waste more than half of one side.
StoredForm form_of(const Range& range);

// The form that the board's programs expect of a boundary: INT8 with zero point 0, and as scale the
// least power of two with which at most the last step of the longer side saturates.
StoredForm board_form_of(const Range& range);

// The numbers that a form holds.
Range range_of(const StoredForm& form);

// Forms for all of selection.values. The result of a node that only moves numbers, or takes their
// maximum, has the form of its operand. Operands of a Concat with similar ranges share its form.
// Requirement: `calibration` has statistics of all these values.
Forms choose_forms(const graph::Graph& graph, const Selection& selection,
                   const Calibration& calibration, const FormOptions& options);

}  // namespace millrace::quantise
