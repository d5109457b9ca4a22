// KnownElements: computes elements of values while their graph is under construction, by evaluating
// the nodes between them and constants or inputs whose elements the caller knows (Known::elements).
// The lowering asks for target shapes, bounds and pads that exporters compute with small integer
// nodes (Shape, Gather, Concat). For one thread.
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

  // Registers `id` as the input of the graph for `known`. Requirement: `known` outlives this.
  void add_input(graph::ValueId id, const Known& known) { inputs_.emplace(id, &known); }

  struct Computed {
    graph::Value value;           // a constant
    std::set<std::string> known;  // names of the known values that the elements depend on
  };
  // Returns the elements of a value that is no constant of the graph. Null if they are not known;
  // if the value, or one that it is computed from, is too large to describe shapes; if too many
  // nodes would have to be evaluated; or if the builder's budget does not suffice. The pointer
  // stays valid as long as this.
  const Computed* of(graph::ValueId id);

 private:
  // Adds the indices of the nodes that have to be evaluated for `id` to `nodes`.
  bool collect(graph::ValueId id, std::set<size_t>* nodes);
  // Copies the elements of a known input to `computed_`.
  bool copy_input(graph::ValueId id);
  // Adds the elements of the node's outputs to `computed_`.
  bool compute(const graph::Node& node);

  GraphBuilder& builder_;
  std::unordered_map<graph::ValueId, const Known*> inputs_;
  // The elements found so far; values are never recomputed.
  std::map<graph::ValueId, Computed> computed_;
};

}  // namespace millrace::lowering
