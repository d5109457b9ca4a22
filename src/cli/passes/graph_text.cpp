// An overload of describe() for each operator of the graph lists its attributes; std::visit chooses
// one, so a new operator does not compile without its overload.
#include "cli/passes/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
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

const char* name_of(graph::PoolKind kind) {
  return kind == graph::PoolKind::kMax ? "max" : "average";
}

const char* name_of(graph::PadMode mode) {
  constexpr const char* kNames[] = {"constant", "reflect", "edge"};
  return kNames[static_cast<size_t>(mode)];
}

const char* name_of(graph::ReduceKind kind) {
  constexpr const char* kNames[graph::kReduceKindCount] = {"sum", "mean", "max", "min", "prod"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(graph::ResizeMode mode) {
  return mode == graph::ResizeMode::kNearest ? "nearest" : "linear";
}

const char* name_of(graph::CoordinateMode mode) {
  constexpr const char* kNames[] = {"asymmetric", "half_pixel", "pytorch_half_pixel",
                                    "align_corners"};
  return kNames[static_cast<size_t>(mode)];
}

const char* name_of(graph::NearestMode mode) {
  constexpr const char* kNames[] = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};
  return kNames[static_cast<size_t>(mode)];
}

// Collects entries `name=value`, separated by spaces.
class Attributes {
 public:
  void add(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += ' ';
    text_ += fmt::format("{}={}", name, value);
  }
  void add(std::string_view name, const graph::Dims& dims) { add(name, graph::to_string(dims)); }
  void add(std::string_view name, int64_t number) { add(name, fmt::to_string(number)); }
  void add_float(std::string_view name, float number) { add(name, fmt::format("{:g}", number)); }
  void add_flag(std::string_view name, bool set) {
    if (set) add(name, "true");
  }
  // Adds a function with its parameters, if it has any; nothing for the identity.
  void add_function(std::string_view name, const Activation& function) {
    if (function.kind == UnaryKind::kIdentity) return;
    const bool has_parameters = function.alpha != 0 || function.beta != 0;
    add(name, has_parameters ? fmt::format("{}({:g},{:g})", graph::name_of(function.kind),
                                           function.alpha, function.beta)
                             : graph::name_of(function.kind));
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void describe(Attributes& out, const graph::Conv& op) {
  out.add("strides", op.strides);
  out.add("dilations", op.dilations);
  out.add("pads_begin", op.pads_begin);
  out.add("pads_end", op.pads_end);
  out.add("group", op.group);
  out.add_function("activation", op.activation);
}

void describe(Attributes& out, const graph::Pool& op) {
  out.add("kind", name_of(op.kind));
  out.add("kernel", op.kernel);
  out.add("strides", op.strides);
  out.add("dilations", op.dilations);
  out.add("pads_begin", op.pads_begin);
  out.add("pads_end", op.pads_end);
  out.add("ceil_excess", op.ceil_excess);
  out.add_flag("count_include_pad", op.count_include_pad);
}

void describe(Attributes& out, const graph::GlobalPool& op) {
  out.add("kind", name_of(op.kind));
}

void describe(Attributes& out, const graph::MatMul& op) {
  out.add_flag("transpose_a", op.transpose_a);
  out.add_flag("transpose_b", op.transpose_b);
  if (op.alpha != 1) out.add_float("alpha", op.alpha);
  out.add_function("activation", op.activation);
}

// The kind of function is printed as the name of the operation, so only its parameters are added.
void describe(Attributes& out, const graph::Unary& op) {
  if (op.function.alpha != 0 || op.function.beta != 0) {
    out.add_float("alpha", op.function.alpha);
    out.add_float("beta", op.function.beta);
  }
}

void describe(Attributes&, const graph::Binary&) {}

void describe(Attributes& out, const graph::BatchNormalization& op) {
  out.add_float("epsilon", op.epsilon);
}

void describe(Attributes& out, const graph::Softmax& op) {
  out.add("axis", op.axis);
  out.add_flag("log", op.log);
}

void describe(Attributes& out, const graph::Concat& op) {
  out.add("axis", op.axis);
}

void describe(Attributes& out, const graph::Reshape& op) {
  out.add("shape", op.shape);
}

void describe(Attributes& out, const graph::Transpose& op) {
  out.add("permutation", op.permutation);
}

void describe(Attributes& out, const graph::Slice& op) {
  out.add("begin", op.begin);
  out.add("size", op.size);
  out.add("step", op.step);
}

void describe(Attributes& out, const graph::Gather& op) {
  out.add("axis", op.axis);
}

void describe(Attributes& out, const graph::Pad& op) {
  out.add("mode", name_of(op.mode));
  out.add("begin", op.begin);
  out.add("end", op.end);
  if (op.value != 0) out.add_float("value", op.value);
}

void describe(Attributes& out, const graph::Resize& op) {
  out.add("mode", name_of(op.mode));
  out.add("coordinates", name_of(op.coordinates));
  if (op.mode == graph::ResizeMode::kNearest) out.add("nearest", name_of(op.nearest));
  out.add("shape", op.shape);
  out.add("scales", fmt::format("[{}]", fmt::join(op.scales, ",")));
}

void describe(Attributes& out, const graph::Reduce& op) {
  out.add("kind", name_of(op.kind));
  out.add("axes", op.axes);
  out.add_flag("keep_dims", op.keep_dims);
}

void describe(Attributes& out, const graph::Cast& op) {
  out.add("to", tensor::to_string(op.to));
}

void describe(Attributes& out, const graph::Expand& op) {
  out.add("shape", op.shape);
}

void describe(Attributes&, const graph::Requantise&) {}

std::string value_text(int64_t number) {
  return fmt::to_string(number);
}
std::string value_text(float number) {
  return fmt::format("{:g}", number);
}
std::string value_text(const std::string& text) {
  return quoted(text);
}
template <class T>
std::string value_text(const std::vector<T>& list) {
  std::vector<std::string> texts;
  for (const T& element : list) texts.push_back(value_text(element));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

void describe(Attributes& out, const graph::Fallback& op) {
  for (const graph::Attribute& attribute : op.attributes)
    out.add(attribute.name,
            std::visit([](const auto& value) { return value_text(value); }, attribute.value));
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
  Attributes attributes;
  std::visit([&](const auto& kind) { describe(attributes, kind); }, op);
  return attributes.take();
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
