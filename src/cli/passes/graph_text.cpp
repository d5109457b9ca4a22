#include "cli/passes/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "graph/shape.h"

namespace millrace::cli {
namespace {

using graph::Activation;
using graph::UnaryKind;

// Returns the name as a JSON string. Names come from files: their line breaks must not look like
// lines of the printed graph.
std::string quoted(const std::string& name) {
  using Json = nlohmann::json;
  return Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string value_text(bool flag) {
  return flag ? "true" : "false";
}
std::string value_text(int64_t number) {
  return fmt::to_string(number);
}
std::string value_text(float number) {
  return fmt::format("{:g}", number);
}
std::string value_text(const std::string& text) {
  return quoted(text);
}
std::string value_text(tensor::DataType type) {
  return std::string(tensor::to_string(type));
}
// Prints a function with its parameters, if it has any.
std::string value_text(const Activation& function) {
  if (function.alpha == 0 && function.beta == 0) return graph::name_of(function.kind);
  return fmt::format("{}({:g},{:g})", graph::name_of(function.kind), function.alpha, function.beta);
}
// Prints an enumerator.
template <class T>
std::string value_text(T attribute) {
  return graph::name_of(attribute);
}
template <class T>
std::string value_text(const std::vector<T>& list) {
  std::vector<std::string> texts;
  for (const T& element : list) texts.push_back(value_text(element));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

// Whether an attribute has no effect, and is left out: a flag that is not set, the identity as a
// function, or a factor or summand with its usual value.
template <class T>
bool is_neutral(const T&, const T&) {
  return false;
}
bool is_neutral(bool flag, bool) {
  return !flag;
}
bool is_neutral(float number, float usual) {
  return number == usual;
}
bool is_neutral(const Activation& function, const Activation&) {
  return function.kind == UnaryKind::kIdentity;
}

// describe() appends an entry `name=value` for each attribute.

template <class Op>
void describe(std::vector<std::string>& entries, const Op& op) {
  const auto add = [&](const auto& attribute) {
    const auto& value = op.*attribute.value;
    if (is_neutral(value, Op().*attribute.value)) return;
    entries.push_back(fmt::format("{}={}", attribute.name, value_text(value)));
  };
  Op::attributes([&](const auto&... attributes) { (add(attributes), ...); });
}

// Only a nearest Resize rounds coordinates.
void describe(std::vector<std::string>& entries, const graph::Resize& op) {
  describe<graph::Resize>(entries, op);
  if (op.mode == graph::ResizeMode::kNearest) return;
  std::erase_if(entries, [](const std::string& entry) { return entry.starts_with("nearest="); });
}

// The kind of an elementwise operator is printed as the name of the operation.
void describe(std::vector<std::string>& entries, const graph::Unary& op) {
  const Activation& function = op.function;
  if (function.alpha == 0 && function.beta == 0) return;
  entries.push_back(fmt::format("alpha={:g} beta={:g}", function.alpha, function.beta));
}

void describe(std::vector<std::string>&, const graph::Binary&) {}

void describe(std::vector<std::string>& entries, const graph::Fallback& op) {
  for (const graph::Attribute& attribute : op.attributes) {
    const auto text =
        std::visit([](const auto& value) { return value_text(value); }, attribute.value);
    entries.push_back(fmt::format("{}={}", attribute.name, text));
  }
}

// Returns the first elements of a constant of a common type: enough to recognise scalars and small
// vectors, without dumping weights.
std::string elements_text(const graph::Value& value) {
  constexpr size_t kMost = 8;
  const auto list = [&]<class T>(std::span<const T> elements) {
    const auto first = elements.first(std::min(elements.size(), kMost));
    return fmt::format(" = {}{}", fmt::join(first, ", "), elements.size() > kMost ? ", ..." : "");
  };
  if (value.type == tensor::DataType::kFloat32) return list(value.constant->as<float>());
  if (value.type == tensor::DataType::kInt64) return list(value.constant->as<int64_t>());
  if (value.type == tensor::DataType::kInt32) return list(value.constant->as<int32_t>());
  return "";
}

std::string declaration(const graph::Value& value) {
  return fmt::format("{} {} {}", quoted(value.name), tensor::to_string(value.type),
                     graph::to_string(value.shape));
}

std::string operands_text(const graph::Graph& graph, const std::vector<graph::ValueId>& ids) {
  std::vector<std::string> names;
  for (const graph::ValueId id : ids)
    names.push_back(id == graph::kNoValue ? "-" : quoted(graph.values[id].name));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string node_text(const graph::Graph& graph, const graph::Node& node) {
  std::vector<std::string> results;
  for (const graph::ValueId id : node.outputs) results.push_back(declaration(graph.values[id]));
  const std::string attributes = attributes_text(node.op);
  const std::string precision =
      node.precision ? fmt::format(" in {}", graph::name_of(*node.precision)) : "";
  return fmt::format("  {} {}{}{}{} ({}) -> {}\n", operation_name(node.op), quoted(node.name),
                     precision, attributes.empty() ? "" : " ", attributes,
                     operands_text(graph, node.inputs), fmt::join(results, ", "));
}

std::string declarations(const graph::Graph& graph, const char* title,
                         const std::vector<graph::ValueId>& ids) {
  std::string text = fmt::format("{}\n", title);
  for (const graph::ValueId id : ids) text += fmt::format("  {}\n", declaration(graph.values[id]));
  return text;
}

}  // namespace

std::string attributes_text(const graph::Operator& op) {
  std::vector<std::string> entries;
  std::visit([&](const auto& attributes) { describe(entries, attributes); }, op);
  return fmt::format("{}", fmt::join(entries, " "));
}

std::string operation_name(const graph::Operator& op) {
  if (const auto* unary = std::get_if<graph::Unary>(&op))
    return graph::name_of(unary->function.kind);
  if (const auto* binary = std::get_if<graph::Binary>(&op)) return graph::name_of(binary->kind);
  return graph::name_of(op);
}

std::string graph_text(const graph::Graph& graph) {
  std::string text = declarations(graph, "inputs", graph.inputs);
  text += "constants\n";
  for (const graph::Value& value : graph.values)
    if (value.constant) text += fmt::format("  {}{}\n", declaration(value), elements_text(value));
  text += "nodes\n";
  for (const graph::Node& node : graph.nodes) text += node_text(graph, node);
  return text + declarations(graph, "outputs", graph.outputs);
}

}  // namespace millrace::cli
