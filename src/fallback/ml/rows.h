// The data that operators of ai.onnx.ml compute with: rows of features.
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

// The elements, each as the number it is. Requirement: a type that visit_element() knows.
std::vector<double> numbers_of(const TensorView& x);

// A list of numbers that a model states as NAME or, with another element type, as NAME_as_tensor;
// null where it states neither.
const std::vector<float>* stated_numbers(const NodeView& node, const char* name);

}  // namespace millrace::fallback
