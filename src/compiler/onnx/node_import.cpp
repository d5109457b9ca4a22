#include "compiler/onnx/node_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/constant_data.h"
#include "graph/shape.h"

namespace millrace::compiler {

using ::onnx::AttributeProto;

NodeImport::NodeImport(GraphBuilder& builder, ::onnx::NodeProto& node, int opset,
                       std::vector<ValueId> operands)
    : builder_(builder),
      node_(node),
      opset_(opset),
      operands_(std::move(operands)),
      outputs_(static_cast<size_t>(node.output_size()), kNoValue) {}

std::string NodeImport::name_of(const ::onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output())
    if (!output.empty()) return output;
  return {};
}

std::string NodeImport::describe(const ::onnx::NodeProto& node) {
  return fmt::format("node '{}' ({})", name_of(node), node.op_type());
}

Result<graph::Dims> NodeImport::constant_ints(size_t index) const {
  const graph::Value& source = value(index);
  if (!source.constant) {
    return unsupported(fmt::format("its input '{}' is not a constant", source.name));
  }
  if (tensor::is_floating(source.type)) {
    return invalid_argument(fmt::format("its input '{}' is {}, not an integer type", source.name,
                                        tensor::to_string(source.type)));
  }
  graph::Dims result;
  MILLRACE_RETURN_IF_ERROR(visit_element(source.type, [&](auto zero) -> Status {
    for (const auto element : source.constant->as<decltype(zero)>()) {
      result.push_back(static_cast<int64_t>(element));
    }
    return {};
  }));
  return result;
}

Result<std::vector<float>> NodeImport::constant_floats(size_t index) const {
  const graph::Value& source = value(index);
  if (!source.constant) {
    return unsupported(fmt::format("its input '{}' is not a constant", source.name));
  }
  std::vector<float> result;
  MILLRACE_RETURN_IF_ERROR(visit_element(source.type, [&](auto zero) -> Status {
    for (const auto element : source.constant->as<decltype(zero)>()) {
      result.push_back(static_cast<float>(element));
    }
    return {};
  }));
  return result;
}

Result<float> NodeImport::constant_float(size_t index) const {
  MILLRACE_ASSIGN_OR_RETURN(const auto elements, constant_floats(index));
  if (elements.size() == 1) return elements[0];
  return invalid_argument(
      fmt::format("its input '{}' has {} elements, not one", value(index).name, elements.size()));
}

AttributeProto* NodeImport::find(const char* name) const {
  for (AttributeProto& attribute : *node_.mutable_attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

AttributeProto* NodeImport::find(const char* name, Kind kind) {
  AttributeProto* attribute = find(name);
  // Models of the first versions leave the kind out.
  if (attribute == nullptr || attribute->type() == kind || !attribute->has_type()) return attribute;
  attribute_status_ =
      invalid_argument(fmt::format("its attribute '{}' is of kind {}, not {}", name,
                                   AttributeProto::AttributeType_Name(attribute->type()),
                                   AttributeProto::AttributeType_Name(kind)));
  return nullptr;
}

bool NodeImport::has_attribute(const char* name) const {
  return find(name) != nullptr;
}

int64_t NodeImport::int_attribute(const char* name, int64_t default_value) {
  const auto* attribute = find(name, AttributeProto::INT);
  return attribute != nullptr ? attribute->i() : default_value;
}

float NodeImport::float_attribute(const char* name, float default_value) {
  const auto* attribute = find(name, AttributeProto::FLOAT);
  return attribute != nullptr ? attribute->f() : default_value;
}

std::string NodeImport::string_attribute(const char* name, const std::string& default_value) {
  const auto* attribute = find(name, AttributeProto::STRING);
  return attribute != nullptr ? attribute->s() : default_value;
}

std::optional<graph::Dims> NodeImport::ints_attribute(const char* name) {
  const auto* attribute = find(name, AttributeProto::INTS);
  if (attribute == nullptr) return std::nullopt;
  return graph::Dims(attribute->ints().begin(), attribute->ints().end());
}

std::optional<std::vector<float>> NodeImport::floats_attribute(const char* name) {
  const auto* attribute = find(name, AttributeProto::FLOATS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<float>(attribute->floats().begin(), attribute->floats().end());
}

::onnx::TensorProto* NodeImport::tensor_attribute(const char* name) {
  auto* attribute = find(name, AttributeProto::TENSOR);
  return attribute != nullptr ? attribute->mutable_t() : nullptr;
}

std::string NodeImport::next_name() {
  const std::string base = name_of(node_);
  const size_t index = emitted_++;
  return index == 0 ? base : fmt::format("{}/{}", base, index);
}

Result<ValueId> NodeImport::emit(graph::Operator op, std::vector<ValueId> inputs) {
  return builder_.emit(next_name(), std::move(op), std::move(inputs));
}

Result<ValueId> NodeImport::unary(graph::UnaryKind kind, ValueId x, float alpha, float beta) {
  return emit(graph::Unary{{kind, alpha, beta}}, {x});
}

Result<ValueId> NodeImport::binary(graph::BinaryKind kind, ValueId a, ValueId b) {
  return emit(graph::Binary{kind}, {a, b});
}

Result<ValueId> NodeImport::reshape(ValueId x, graph::Dims shape) {
  if (builder_.value(x).shape == shape) return x;
  return emit(graph::Reshape{std::move(shape)}, {x});
}

Result<ValueId> NodeImport::reduce(graph::ReduceKind kind, ValueId x, graph::Dims axes,
                                   bool keep_dims) {
  if (axes.empty()) return x;
  return emit(graph::Reduce{kind, std::move(axes), keep_dims}, {x});
}

Result<ValueId> NodeImport::add_computed(graph::Value constant) {
  constant.name = next_name();
  return builder_.add_computed(std::move(constant));
}

void NodeImport::set_output(size_t index, ValueId id) {
  outputs_[index] = id;
}

Result<graph::Dims> normalise_axes(const graph::Dims& axes, size_t rank) {
  graph::Dims result;
  for (const int64_t axis : axes) {
    MILLRACE_ASSIGN_OR_RETURN(const size_t positive, normalise_axis(axis, rank));
    result.push_back(static_cast<int64_t>(positive));
  }
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) {
    return invalid_argument(fmt::format("axes {} name a dimension twice", graph::to_string(axes)));
  }
  return result;
}

}  // namespace millrace::compiler
