// Inlines model-local functions (FunctionProto) recursively. Each call copies the body, renames its
// values with a prefix that is unique to the call, and resolves references to attributes of the
// call. A budget of nodes and bytes limits the result, since a few nested calls could otherwise
// expand to any size.
#include "compiler/onnx/functions.h"

#include <fmt/format.h>

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/onnx/opsets.h"

namespace millrace::compiler {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using Nodes = ::google::protobuf::RepeatedPtrField<NodeProto>;

// Limits for the expansion of calls: the nodes and bytes that they may add, and the depth of
// nesting.
constexpr size_t kMostNodes = 200'000;
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr size_t kMostDepth = 64;

using FunctionName = std::pair<std::string, std::string>;  // domain and name

std::string text_of(const FunctionName& name) {
  return name.first.empty() ? name.second : name.first + "." + name.second;
}

// The nodes and bytes that calls may still add to the model. Names and attributes count, since each
// call copies them.
class Budget {
 public:
  bool take_node(size_t bytes) {
    if (nodes_ == 0) return exceed();
    --nodes_;
    return take(bytes);
  }
  // Once a request has failed, all later ones fail.
  bool take(size_t bytes) {
    if (exceeded_ || bytes > bytes_) return exceed();
    bytes_ -= bytes;
    return true;
  }
  Status status() const {
    if (!exceeded_) return {};
    return unsupported(fmt::format("inlining its functions adds more than {} nodes or {} bytes",
                                   kMostNodes, kMostBytes));
  }

 private:
  bool exceed() {
    exceeded_ = true;
    nodes_ = bytes_ = 0;
    return false;
  }

  size_t nodes_ = kMostNodes;
  size_t bytes_ = kMostBytes;
  bool exceeded_ = false;
};

// Reads the defaults of attributes, for calls that do not state them. They are in a field of newer
// file versions that the protobuf messages of older ONNX releases do not know.
Status read_defaults(const FunctionProto& function, Budget& budget,
                     std::vector<AttributeProto>* defaults) {
  constexpr int kAttributeField = 11;
  const auto& fields = function.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() != kAttributeField ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    if (!budget.take(field.length_delimited().size())) return budget.status();
    if (!defaults->emplace_back().ParsePartialFromString(field.length_delimited())) {
      return corrupt_data(
          fmt::format("an attribute of the function '{}' is damaged", function.name()));
    }
  }
  return {};
}

// The renaming of a function's body for one call.
class Body {
 public:
  // Values that the body makes get names that begin with `prefix`. `attributes` are those to which
  // the body may refer; the first one of a name takes precedence. When the budget is exhausted,
  // names and references stay unchanged.
  Body(const FunctionProto& function, const NodeProto& call,
       const std::vector<AttributeProto>& attributes, std::string prefix, Budget& budget)
      : prefix_(std::move(prefix)), budget_(budget) {
    for (const AttributeProto& attribute : attributes)
      attributes_.emplace(attribute.name(), &attribute);
    for (int i = 0; i < function.input_size(); ++i)
      names_[function.input(i)] = i < call.input_size() ? call.input(i) : std::string();
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i)
      add_output(function.output(i), call.output(i));
  }

  // Renames a node of the body, its operands and outputs, and those of its subgraphs.
  void adapt(NodeProto& node) const {
    if (!node.name().empty() && budget_.take(prefix_.size())) node.set_name(prefix_ + node.name());
    for (std::string& name : *node.mutable_input()) name = renamed(name);
    for (std::string& name : *node.mutable_output()) name = renamed(name);
    resolve_references(node);
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) adapt(*attribute.mutable_g());
      for (GraphProto& graph : *attribute.mutable_graphs()) adapt(graph);
    }
  }

  // The nodes that copy a value for an output of the call, if the function returns one value
  // several times, or an input.
  const std::vector<NodeProto>& copies() const { return copies_; }

 private:
  void add_output(const std::string& inside, const std::string& outside) {
    if (outside.empty()) return;
    const auto [entry, is_new] = names_.emplace(inside, outside);
    if (is_new) return;
    NodeProto& copy = copies_.emplace_back();
    copy.set_op_type("Identity");
    copy.add_input(entry->second);
    copy.add_output(outside);
  }

  std::string renamed(const std::string& name) const {
    if (name.empty()) return name;
    const auto entry = names_.find(name);
    const bool is_of_call = entry != names_.end();
    const size_t bytes = is_of_call ? entry->second.size() : prefix_.size() + name.size();
    if (!budget_.take(bytes)) return name;
    return is_of_call ? entry->second : prefix_ + name;
  }

  void adapt(GraphProto& graph) const {
    for (auto& value : *graph.mutable_input()) value.set_name(renamed(value.name()));
    for (auto& value : *graph.mutable_output()) value.set_name(renamed(value.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(renamed(tensor.name()));
    for (NodeProto& node : *graph.mutable_node()) adapt(node);
  }

  // Replaces attributes that refer to an attribute of the call. They are removed if the call has no
  // such attribute.
  void resolve_references(NodeProto& node) const {
    auto& attributes = *node.mutable_attribute();
    for (int i = attributes.size(); i-- > 0;) {
      const std::string wanted = attributes[i].ref_attr_name();
      if (wanted.empty()) continue;
      const std::string name = attributes[i].name();
      const auto given = attributes_.find(wanted);
      if (given == attributes_.end()) {
        attributes.DeleteSubrange(i, 1);
      } else if (budget_.take(given->second->ByteSizeLong())) {
        attributes[i] = *given->second;
        attributes[i].set_name(name);
      }
    }
  }

  std::unordered_map<std::string, const AttributeProto*> attributes_;
  std::string prefix_;
  Budget& budget_;
  std::map<std::string, std::string> names_;  // from names in the body to those of the call
  std::vector<NodeProto> copies_;
};

// Expands all calls of functions in a list of nodes.
class Inliner {
 public:
  Status index(const ::onnx::ModelProto& model);
  Status expand(Nodes& nodes);

 private:
  Status expand_inside(NodeProto& node);
  Status expand_call(const NodeProto& call, const FunctionName& name, Nodes& result);

  std::map<FunctionName, const FunctionProto*> functions_;
  std::vector<FunctionName> open_;  // functions that are being expanded, outermost first
  size_t calls_ = 0;
  Budget budget_;
};

Status check_opsets(const FunctionProto& function, const std::map<std::string, int>& opsets) {
  for (const auto& entry : function.opset_import()) {
    const auto of_model = opsets.find(canonical_domain(entry.domain()));
    if (of_model == opsets.end() || of_model->second == entry.version()) continue;
    return unsupported(fmt::format(
        "the function '{}' uses opset {} of domain {} where the model uses {}", function.name(),
        entry.version(), of_model->first.empty() ? "ai.onnx" : of_model->first, of_model->second));
  }
  return {};
}

Status Inliner::index(const ::onnx::ModelProto& model) {
  MILLRACE_ASSIGN_OR_RETURN(const auto opsets, read_opsets(model));
  for (const FunctionProto& function : model.functions()) {
    const FunctionName name{canonical_domain(function.domain()), function.name()};
    if (!functions_.emplace(name, &function).second)
      return invalid_argument(fmt::format("there are two functions '{}'", text_of(name)));
    MILLRACE_RETURN_IF_ERROR(check_opsets(function, opsets));
  }
  return {};
}

Status Inliner::expand_inside(NodeProto& node) {
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) MILLRACE_RETURN_IF_ERROR(expand(*attribute.mutable_g()->mutable_node()));
  }
  return {};
}

Status Inliner::expand_call(const NodeProto& call, const FunctionName& name, Nodes& result) {
  if (std::ranges::find(open_, name) != open_.end())
    return invalid_argument(fmt::format("the function '{}' calls itself", text_of(name)));
  if (open_.size() == kMostDepth) {
    return unsupported(fmt::format("functions call each other {} deep; the limit is {}",
                                   kMostDepth + 1, kMostDepth));
  }
  const FunctionProto& function = *functions_.at(name);
  const std::string label = call.name().empty() ? function.name() : call.name();
  std::vector<AttributeProto> attributes(call.attribute().begin(), call.attribute().end());
  MILLRACE_RETURN_IF_ERROR(read_defaults(function, budget_, &attributes));
  const Body body(function, call, attributes, fmt::format("{}#{}/", label, ++calls_), budget_);
  Nodes nodes;
  for (const NodeProto& node : function.node()) {
    if (!budget_.take_node(node.ByteSizeLong())) return budget_.status();
    body.adapt(*nodes.Add() = node);
    MILLRACE_RETURN_IF_ERROR(budget_.status());
  }
  for (const NodeProto& copy : body.copies()) *nodes.Add() = copy;
  open_.push_back(name);
  MILLRACE_RETURN_IF_ERROR(expand(nodes));
  open_.pop_back();
  for (NodeProto& node : nodes) *result.Add() = std::move(node);
  return {};
}

Status Inliner::expand(Nodes& nodes) {
  Nodes result;
  for (NodeProto& node : nodes) {
    MILLRACE_RETURN_IF_ERROR(expand_inside(node));
    const FunctionName name{canonical_domain(node.domain()), node.op_type()};
    if (!functions_.contains(name)) {
      *result.Add() = std::move(node);
      continue;
    }
    MILLRACE_RETURN_IF_ERROR(expand_call(node, name, result));
  }
  nodes = std::move(result);
  return {};
}

}  // namespace

Status inline_functions(::onnx::ModelProto& model) {
  if (model.functions().empty()) return {};
  Inliner inliner;
  MILLRACE_RETURN_IF_ERROR(inliner.index(model));
  MILLRACE_RETURN_IF_ERROR(inliner.expand(*model.mutable_graph()->mutable_node()));
  // The opset imports that the bodies use and the model does not state.
  std::map<std::string, int64_t> stated;
  for (const auto& entry : model.opset_import())
    stated.emplace(canonical_domain(entry.domain()), entry.version());
  for (const FunctionProto& function : model.functions()) {
    for (const auto& entry : function.opset_import()) {
      if (stated.emplace(canonical_domain(entry.domain()), entry.version()).second)
        *model.add_opset_import() = entry;
    }
  }
  model.clear_functions();
  return {};
}

}  // namespace millrace::compiler
