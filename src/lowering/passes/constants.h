// Constants as passes see them: numbers, per channel or alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// The elements of a FLOAT32 constant; nothing for any other value.
std::optional<std::span<const float>> floats_of(const graph::Value& value);

// The number a FLOAT32 constant holds in all its elements, if it is one element.
std::optional<float> scalar_of(const graph::Value& value);

// `value` as an operand broadcast to `shape`: one number, or one per index of dimension `channel`.
// Nothing where it varies along another dimension, would change the shape, or is no FLOAT32
// constant.
std::optional<std::vector<float>> channel_values(const graph::Value& value,
                                                 const graph::Dims& shape, size_t channel);

graph::ValueId add_floats(graph::Graph& graph, std::string name, graph::Dims shape,
                          const std::vector<float>& elements);

}  // namespace millrace::lowering
