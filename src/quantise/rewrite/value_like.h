// Adds values to a graph that have the type and shape of another one.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace millrace::quantise {

// Adds a value with the type and the shape of `like`, neither quantised nor constant. Its name is
// that of `like` followed by the suffix.
inline graph::ValueId add_value_like(graph::Graph& graph, graph::ValueId like,
                                     std::string_view suffix) {
  const graph::Value& value = graph.values[like];
  return graph.add_value({value.name + std::string(suffix), value.type, value.shape, std::nullopt});
}

}  // namespace millrace::quantise
