// Visits the nodes in order, with the set of names that exist so far, and recurses into subgraphs.
// A subgraph sees its own names and, through its captures, those of the networks around it.
#include "graph/network/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/utf8.h"
#include "graph/shape.h"

namespace millrace::network {
namespace {

Status check_text(std::string_view text) {
  return is_utf8(text) ? Status() : invalid_argument("a name is not valid UTF-8");
}

Status check_constant(const graph::Value& value) {
  if (tensor::size_of(value.type) == 0) return invalid_argument("no known type");
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(value.shape));
  if (!value.constant) return invalid_argument("the constant has no data");
  if (value.constant->bytes.size() == value.bytes()) return {};
  return invalid_argument(fmt::format("a constant of {} bytes, but type and shape take {}",
                                      value.constant->bytes.size(), value.bytes()));
}

Status check_declaration(const Input& declared) {
  MILLRACE_RETURN_IF_ERROR(check_text(declared.name));
  graph::Dims shape;
  for (const Dimension& dimension : declared.shape) {
    MILLRACE_RETURN_IF_ERROR(check_text(dimension.symbol));
    shape.push_back(dimension.size == Dimension::kOpen ? 1 : dimension.size);
  }
  if (declared.has_shape || shape.empty()) return graph::check_shape(shape);
  return invalid_argument("it has dimensions, but states no rank");
}

// Checks one network. It may read values of the networks around it.
class Checker {
 public:
  // `around` is the enclosing network; null for the model itself.
  Checker(const Network& network, const Checker* around)
      : network_(network), around_(around), depth_(around == nullptr ? 0 : around->depth_ + 1) {}

  Status run() {
    if (depth_ > kMaxSubgraphDepth) {
      return invalid_argument(fmt::format("subgraphs nest deeper than {}", kMaxSubgraphDepth));
    }
    MILLRACE_RETURN_IF_ERROR(check_opsets());
    MILLRACE_RETURN_IF_ERROR(check_captures());
    MILLRACE_RETURN_IF_ERROR(add_inputs());
    MILLRACE_RETURN_IF_ERROR(add_initializers());
    for (const Node& node : network_.nodes) {
      if (Status status = check_node(node); !status.ok()) {
        return status.with_context(fmt::format("node '{}' ({})", node.name, node.type));
      }
    }
    return check_outputs();
  }

 private:
  Status check_opsets() const {
    if (around_ != nullptr && network_.opsets != around_->network_.opsets) {
      return invalid_argument("the opsets of a subgraph are not those of the model");
    }
    for (const auto& [domain, version] : network_.opsets) {
      MILLRACE_RETURN_IF_ERROR(check_text(domain));
      if (version < 1) {
        return invalid_argument(fmt::format("invalid opset {} of domain '{}'", version, domain));
      }
    }
    return {};
  }

  Status check_captures() const {
    const std::vector<std::string>& names = network_.captures;
    if (std::ranges::adjacent_find(names, std::ranges::greater_equal()) != names.end()) {
      return invalid_argument("captures are not in ascending order");
    }
    for (const std::string& name : names) {
      if (around_ == nullptr || !around_->has(name)) {
        return invalid_argument(fmt::format("captures '{}', which does not exist around it", name));
      }
    }
    return {};
  }

  Status add_inputs() {
    for (const Input& input : network_.inputs) {
      Status status = check_declaration(input);
      if (status.ok()) status = add(input.name);
      MILLRACE_RETURN_IF_ERROR(status.with_context(fmt::format("input '{}'", input.name)));
    }
    return {};
  }

  Status add_initializers() {
    for (const graph::Value& value : network_.initializers) {
      Status status = check_constant(value);
      if (status.ok()) status = add(value.name);
      MILLRACE_RETURN_IF_ERROR(status.with_context(fmt::format("initializer '{}'", value.name)));
    }
    return {};
  }

  Status check_node(const Node& node) {
    for (const std::string* text : {&node.name, &node.domain, &node.type}) {
      MILLRACE_RETURN_IF_ERROR(check_text(*text));
    }
    if (node.type.empty()) return invalid_argument("no operator");
    for (const std::string& input : node.inputs) {
      if (!input.empty()) MILLRACE_RETURN_IF_ERROR(check_use(input));
    }
    MILLRACE_RETURN_IF_ERROR(check_attributes(node));
    for (const std::string& output : node.outputs) {
      if (!output.empty()) MILLRACE_RETURN_IF_ERROR(add(output));
    }
    return {};
  }

  Status check_attributes(const Node& node) {
    std::set<std::string_view> names;
    for (const Attribute& attribute : node.attributes) {
      Status status = check_text(attribute.name);
      if (status.ok() && !names.insert(attribute.name).second) {
        status = invalid_argument("the node has it twice");
      }
      if (status.ok()) status = check_value(attribute.value);
      MILLRACE_RETURN_IF_ERROR(status.with_context(fmt::format("attribute '{}'", attribute.name)));
    }
    return {};
  }

  Status check_value(const Attribute::Value& value) {
    if (const auto* tensor = std::get_if<graph::Value>(&value)) return check_constant(*tensor);
    if (const auto* text = std::get_if<std::string>(&value)) return check_text(*text);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      for (const std::string& text : *texts) MILLRACE_RETURN_IF_ERROR(check_text(text));
    }
    const auto* subgraph = std::get_if<std::shared_ptr<const Network>>(&value);
    return subgraph == nullptr ? Status() : Checker(**subgraph, this).run();
  }

  Status check_outputs() const {
    for (const Output& output : network_.outputs) {
      Status status = check_declaration(output);
      if (status.ok()) status = check_use(output.name);
      MILLRACE_RETURN_IF_ERROR(status.with_context(fmt::format("output '{}'", output.name)));
    }
    return {};
  }

  Status add(const std::string& name) {
    MILLRACE_RETURN_IF_ERROR(check_text(name));
    if (name.empty()) return invalid_argument("a value has no name");
    if (made_.insert(name).second) return {};
    return invalid_argument(fmt::format("'{}' is made twice", name));
  }

  Status check_use(const std::string& name) const {
    if (has(name)) return {};
    return invalid_argument(
        fmt::format("reads '{}' before it is made, or without capturing it", name));
  }

  // Whether a value of that name exists at this point, in this network or among its captures.
  bool has(const std::string& name) const {
    return made_.contains(name) || std::ranges::binary_search(network_.captures, name);
  }

  const Network& network_;
  const Checker* around_;
  const size_t depth_;
  std::unordered_set<std::string_view> made_;
};

}  // namespace

Status check(const Network& model) {
  return Checker(model, nullptr).run();
}

}  // namespace millrace::network
