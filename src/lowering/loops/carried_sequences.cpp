// An alias analysis by union-find. Values that are the same sequence at different times (operand
// and result of a SequenceInsert, the state of a loop before, in and after it) are joined into a
// group. A group is a sequence if an operator on sequences makes or reads one of its values, and
// carried if one of them is a state of a Loop or a capture of a loop body. The first walk over the
// networks builds the groups, the second one marks the operators.
#include "lowering/loops/carried_sequences.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/node_facts.h"

namespace millrace::lowering {
namespace {

using network::Network;
using network::Node;

// The values of a model and its subgraphs, as disjoint sets (union by join(), path halving in
// root()). The values of a group are the same sequence at different times, if they are sequences.
class Groups {
 public:
  size_t add() {
    parents_.push_back(parents_.size());
    is_sequence_.push_back(false);
    is_carried_.push_back(false);
    return parents_.size() - 1;
  }
  void join(size_t a, size_t b) {
    a = root(a);
    b = root(b);
    parents_[b] = a;
    is_sequence_[a] = is_sequence_[a] || is_sequence_[b];
    is_carried_[a] = is_carried_[a] || is_carried_[b];
  }
  void set_sequence(size_t value) { is_sequence_[root(value)] = true; }
  void set_carried(size_t value) { is_carried_[root(value)] = true; }
  bool is_carried_sequence(size_t value) {
    return is_sequence_[root(value)] && is_carried_[root(value)];
  }

 private:
  size_t root(size_t value) {
    while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
    return value;
  }

  std::vector<size_t> parents_;
  std::vector<bool> is_sequence_, is_carried_;  // indexed by roots
};

bool is_standard(const Node& node, std::string_view type) {
  return node.domain.empty() && node.type == type;
}

bool makes_sequence(const Node& node) {
  return is_standard(node, "SequenceEmpty") || is_standard(node, "SequenceConstruct") ||
         is_standard(node, "SplitToSequence");
}

bool changes_sequence(const Node& node) {
  return is_standard(node, "SequenceInsert") || is_standard(node, "SequenceErase");
}

bool reads_sequence(const Node& node) {
  return is_standard(node, "SequenceAt") || is_standard(node, "SequenceLength") ||
         is_standard(node, "ConcatFromSequence");
}

// The names that are visible in a network, including those of the networks around it.
struct Scope {
  const Scope* around = nullptr;
  std::unordered_map<std::string, size_t> values = {};

  const size_t* find(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->around)
      if (const auto found = scope->values.find(name); found != scope->values.end())
        return &found->second;
    return nullptr;
  }
};

class Analysis {
 public:
  // Builds the groups. mark() then visits the same networks, and relies on the scopes made here.
  void look(const Network& network, Scope& scope) {
    for (const network::Input& input : network.inputs) scope.values[input.name] = groups_.add();
    for (const graph::Value& value : network.initializers) scope.values[value.name] = groups_.add();
    for (const Node& node : network.nodes) {
      for (const std::string& name : node.outputs)
        if (!name.empty()) scope.values[name] = groups_.add();
      look(node, scope);
    }
  }

  void mark(Network& network, const Scope& scope) {
    for (Node& node : network.nodes) {
      if (is_on_carried_sequence(node, scope)) node.domain = kCarriedDomain;
      for (network::Attribute& attribute : node.attributes) {
        const Network* const inner = subgraph_of(attribute);
        if (inner == nullptr) continue;
        Network marked = *inner;
        mark(marked, *scopes_.at(inner));
        attribute.value = std::make_shared<const Network>(std::move(marked));
      }
    }
  }

 private:
  static std::optional<size_t> of(const Scope& scope, const std::string& name) {
    const size_t* const id = scope.find(name);
    return id == nullptr ? std::nullopt : std::optional(*id);
  }

  static std::optional<size_t> value(const Scope& scope, const std::vector<std::string>& names,
                                     size_t index) {
    return index < names.size() ? of(scope, names[index]) : std::nullopt;
  }

  void join(std::optional<size_t> a, std::optional<size_t> b) {
    if (a && b) groups_.join(*a, *b);
  }

  void look(const Node& node, const Scope& scope) {
    const auto operand = value(scope, node.inputs, 0), result = value(scope, node.outputs, 0);
    if (makes_sequence(node) && result) groups_.set_sequence(*result);
    if ((changes_sequence(node) || reads_sequence(node)) && operand) groups_.set_sequence(*operand);
    if (changes_sequence(node) || is_standard(node, "Identity")) join(operand, result);
    for (const network::Attribute& attribute : node.attributes)
      if (const Network* inner = subgraph_of(attribute)) look_inside(node, *inner, scope);
  }

  void look_inside(const Node& node, const Network& inner, const Scope& scope) {
    const auto made = scopes_.emplace(&inner, std::make_unique<Scope>(Scope{&scope}));
    Scope& inside = *made.first->second;
    look(inner, inside);
    if (is_loop(node)) {
      look_at_loop(node, inner, inside, scope);
    } else if (is_if(node)) {
      for (size_t i = 0; i < std::min(inner.outputs.size(), node.outputs.size()); ++i)
        join(value(scope, node.outputs, i), of(inside, inner.outputs[i].name));
      return;
    }
    for (const std::string& name : inner.captures)
      if (const auto captured = of(scope, name)) groups_.set_carried(*captured);
  }

  // Joins, for each state of a Loop, the operand, the input and the output of the body, and the
  // output of the node.
  void look_at_loop(const Node& node, const Network& body, const Scope& inside,
                    const Scope& scope) {
    const size_t inputs = std::min(node.inputs.size(), body.inputs.size());
    for (size_t i = kBeforeCarried; i < inputs; ++i) {
      const size_t output = i - kBeforeCarried;
      const auto entry = of(inside, body.inputs[i].name);
      if (entry) groups_.set_carried(*entry);
      join(entry, value(scope, node.inputs, i));
      join(entry, value(scope, node.outputs, output));
      if (output + 1 < body.outputs.size()) join(entry, of(inside, body.outputs[output + 1].name));
    }
  }

  bool is_on_carried_sequence(const Node& node, const Scope& scope) {
    const bool makes = makes_sequence(node);
    if (!makes && !changes_sequence(node) && !reads_sequence(node) &&
        !is_standard(node, "Identity"))
      return false;
    const auto id = value(scope, makes ? node.outputs : node.inputs, 0);
    return id && groups_.is_carried_sequence(*id);
  }

  Groups groups_;
  std::unordered_map<const Network*, std::unique_ptr<Scope>> scopes_;  // scopes of subgraphs
};

bool has_loop(const Network& network) {
  return std::ranges::any_of(network.nodes, [](const Node& node) {
    return is_control_flow(node) &&
           (!is_if(node) || std::ranges::any_of(node.attributes, [](const auto& attribute) {
             const Network* const inner = subgraph_of(attribute);
             return inner != nullptr && has_loop(*inner);
           }));
  });
}

}  // namespace

void mark_carried_sequences(Network& model) {
  if (!has_loop(model)) return;
  Analysis analysis;
  Scope scope;
  analysis.look(model, scope);
  analysis.mark(model, scope);
}

}  // namespace millrace::lowering
