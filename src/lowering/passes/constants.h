// Access to FLOAT32 constants for passes: all elements, a scalar, or one value per channel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace millrace::lowering {

// The elements of a FLOAT32 constant; nothing for any other value.
std::optional<std::span<const float>> floats_of(const graph::Value& value);

// The element of a FLOAT32 constant of one element, of any rank; nothing for any other value.
std::optional<float> scalar_of(const graph::Value& value);

// Returns the elements of a constant that is broadcast to `shape`: a single one, or one per index
// of dimension `channel`. Nothing if `value` varies along another dimension, would extend the
// shape, or is no FLOAT32 constant.
std::optional<std::vector<float>> channel_values(const graph::Value& value,
                                                 const graph::Dims& shape, size_t channel);

// Adds a FLOAT32 constant to the graph.
graph::ValueId add_floats(graph::Graph& graph, std::string name, graph::Dims shape,
                          const std::vector<float>& elements);

}  // namespace millrace::lowering
