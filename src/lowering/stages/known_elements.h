// Elements that can be told while a graph is under construction: those of constants, those of
// inputs that the caller knows, and what few nodes make of them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "lowering/graph_builder.h"
#include "lowering/stage.h"

namespace millrace::lowering {

class KnownElements {
 public:
  // Requirement: the builder outlives this.
  explicit KnownElements(GraphBuilder& builder) : builder_(builder) {}

  // `id` is the input of the graph that stands for `known`, which outlives this.
  void add_input(graph::ValueId id, const Known& known) { inputs_.emplace(id, &known); }

  struct Told {
    graph::Value value;          // a constant
    std::set<std::string> from;  // the known values that it follows from
  };
  // Returns the elements of a value; null if they are not known, if the value or one that it is
  // made of is too large to describe shapes, or if nothing is left of the builder's budget.
  const Told* of(graph::ValueId id);

 private:
  bool collect(graph::ValueId id, std::set<size_t>* nodes);
  bool tell_input(graph::ValueId id);
  bool compute(const graph::Node& node);

  GraphBuilder& builder_;
  std::unordered_map<graph::ValueId, const Known*> inputs_;
  std::map<graph::ValueId, Told> told_;
};

}  // namespace millrace::lowering
