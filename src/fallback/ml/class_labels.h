// The classes of a classifier of ai.onnx.ml.
#pragma once

#include <vector>

#include "fallback/node_view.h"

namespace millrace::fallback {

// Returns the class labels: the attribute classlabels_int64s, or classlabels_ints, which some
// operators have. Tensors hold no strings, so classes that classlabels_strings names are numbered
// from 0 in their order. kInvalidArgument: the node has none of these.
Result<std::vector<int64_t>> class_labels_of(const NodeView& node);

// Sets the types and dimensions of the outputs of a classifier: one label per row, and `scores`
// scores per row.
void set_labels_and_scores(Inference& node, size_t rows, size_t scores);

}  // namespace millrace::fallback
