// The classes that a classifier of ai.onnx.ml chooses from.
#pragma once

#include <vector>

#include "fallback/node_view.h"

namespace millrace::fallback {

// The attribute classlabels_int64s, or classlabels_ints where the operator calls it so. Tensors
// hold no strings: classes that are named by classlabels_strings are numbered from 0, in their
// order. kInvalidArgument where there are neither.
Result<std::vector<int64_t>> class_labels_of(const NodeView& node);

// The types and dimensions of a classifier's outputs: a label per row, and `scores` scores.
void set_labels_and_scores(Inference& node, size_t rows, size_t scores);

}  // namespace millrace::fallback
