// A value beside another one.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace millrace::quantise {

// Adds a value with the type and the shape of `like`, not quantised and no constant. Its name is
// that of `like` with the suffix.
inline graph::ValueId add_value_like(graph::Graph& graph, graph::ValueId like,
                                     std::string_view suffix) {
  const graph::Value& value = graph.values[like];
  return graph.add_value({value.name + std::string(suffix), value.type, value.shape, std::nullopt});
}

}  // namespace millrace::quantise
