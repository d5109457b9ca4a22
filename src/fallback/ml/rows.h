// Rows of features, the data of operators of ai.onnx.ml. Thread-safe.
#pragma once

#include <vector>

#include "fallback/element.h"
#include "fallback/node_view.h"

namespace millrace::fallback {

inline constexpr TypeSet kFeatures = kFloats | kIndexTypes;

struct Rows {
  size_t count = 0, features = 0;
};

// Interprets x as [rows, features], or [features] as one row. kInvalidArgument: another rank.
Result<Rows> rows_of(const TensorView& x);

// Returns the elements as double. Requirement: visit_element() supports the type.
std::vector<double> numbers_of(const TensorView& x);

// Returns the list attribute `name` or, for another element type, `name`_as_tensor; null if the
// node has neither.
const std::vector<float>* stated_numbers(const NodeView& node, const char* name);

}  // namespace millrace::fallback
