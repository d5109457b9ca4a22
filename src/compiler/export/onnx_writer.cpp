#include "compiler/export/onnx_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/export/operator_set.h"
#include "compiler/export/operator_writers.h"
#include "model/files/temporary_output.h"

namespace millrace::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueId;

// Protobuf messages are limited to 2^31 bytes. 64 MiB of them are reserved for names and nodes.
constexpr size_t kMostConstantBytes = (size_t{1} << 31) - (size_t{64} << 20);

Status check_sizes(const Graph& graph) {
  size_t bytes = 0;
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    bytes += value.bytes();
    if (bytes > kMostConstantBytes)
      return unsupported("its constants are larger than an ONNX file can be, 2 GiB");
  }
  return {};
}

// QuantizeLinear can only make 8-bit integers, and DequantizeLinear of INT32 has no zero point.
// `made` says whether a QuantizeLinear would have to make the value.
Status check_quantisation(const Value& value, bool made) {
  if (!value.quantisation || value.type != tensor::DataType::kInt32) return {};
  const bool offset = std::ranges::any_of(value.quantisation->zero_points,
                                          [](int32_t point) { return point != 0; });
  if (!made && !offset) return {};
  return unsupported(fmt::format("'{}': ONNX cannot {} INT32", value.name,
                                 made ? "quantise to" : "have a zero point of"));
}

Status check_quantisations(const Graph& graph) {
  for (const Value& value : graph.values)
    MILLRACE_RETURN_IF_ERROR(check_quantisation(value, false));
  for (const Node& node : graph.nodes)
    if (graph::computes_numbers(node.op))
      MILLRACE_RETURN_IF_ERROR(check_quantisation(graph.values[node.outputs[0]], true));
  return {};
}

Status write_node(ProtoModel& model, const Node& node) {
  model.begin(node);
  MILLRACE_ASSIGN_OR_RETURN(
      const std::string result,
      std::visit([&](const auto& op) { return write(model, node, op); }, node.op));
  if (std::holds_alternative<graph::Fallback>(node.op)) return {};
  const ValueId output = node.outputs[0];
  if (model.value(output).quantisation && graph::computes_numbers(node.op))
    model.store_quantised(output, result);
  else
    model.store(output);
  return {};
}

Result<::onnx::ModelProto> build(const Graph& graph) {
  MILLRACE_RETURN_IF_ERROR(check_sizes(graph));
  MILLRACE_RETURN_IF_ERROR(check_quantisations(graph));
  MILLRACE_ASSIGN_OR_RETURN(const int opset, operator_set_of(graph));
  ProtoModel model(graph, opset);
  for (const Node& node : graph.nodes) {
    if (Status status = write_node(model, node); !status.ok())
      return status.with_context(fmt::format("node '{}' ({})", node.name, graph::name_of(node.op)));
  }
  return model.finish();
}

Status write_file(const ::onnx::ModelProto& model, const std::string& path) {
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    return unsupported("it is larger than an ONNX file can be, 2 GiB");
  return model::write_whole_file(path, std::as_bytes(std::span(bytes)));
}

}  // namespace

Status write_onnx(const Graph& graph, const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const ::onnx::ModelProto model, build(graph));
  return write_file(model, path).with_context(path);
}

}  // namespace millrace::compiler
