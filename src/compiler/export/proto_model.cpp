// Names of values are made unique at the start: inputs and outputs of the graph first, so that they
// keep their names. Constants are written when the first node refers to them. FLOAT32 forms of
// quantised or 16-bit values are made once and remembered.
#include "compiler/export/proto_model.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "lowering/operators/element_types.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::Value;
using graph::ValueId;
using ::onnx::AttributeProto;
using ::onnx::TensorProto;
using tensor::DataType;

// Returns the version of the file format (ir_version) of the ONNX release that introduced this
// opset.
int format_version(int opset) {
  struct Release {
    int opset, version;
  };
  static constexpr Release kReleases[] = {{14, 7},  {18, 8},  {20, 9},
                                          {22, 10}, {23, 11}, {24, 12}};  // last opset, ir_version
  for (const Release& release : kReleases)
    if (opset <= release.opset) return release.version;
  return 13;
}

// Returns the opset version to state for a domain other than that of the standard.
int domain_version(std::string_view domain) {
  return domain == "ai.onnx.ml" ? 3 : 1;
}

void set(AttributeProto* out, const ProtoAttribute& attribute) {
  out->set_name(attribute.name);
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          out->set_type(AttributeProto::INT);
          out->set_i(value);
        } else if constexpr (std::is_same_v<T, float>) {
          out->set_type(AttributeProto::FLOAT);
          out->set_f(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          out->set_type(AttributeProto::STRING);
          out->set_s(value);
        } else if constexpr (std::is_same_v<T, Dims>) {
          out->set_type(AttributeProto::INTS);
          out->mutable_ints()->Add(value.begin(), value.end());
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          out->set_type(AttributeProto::FLOATS);
          out->mutable_floats()->Add(value.begin(), value.end());
        } else {
          out->set_type(AttributeProto::STRINGS);
          for (const std::string& text : value) out->add_strings(text);
        }
      },
      attribute.value);
}

Value zero_points_of(const Value& value) {
  const std::vector<int32_t>& points = value.quantisation->zero_points;
  Dims shape;
  if (points.size() > 1) shape.push_back(static_cast<int64_t>(points.size()));
  if (value.type == DataType::kInt32)
    return {{}, value.type, std::move(shape), graph::Constant::of<int32_t>(points)};
  // A zero point of INT8 has the same bits as UINT8.
  std::vector<uint8_t> bytes;
  for (const int32_t point : points) bytes.push_back(static_cast<uint8_t>(point));
  return {{}, value.type, std::move(shape), graph::Constant::of<uint8_t>(bytes)};
}

ProtoAttributes axis_of(const graph::Quantisation& quantisation) {
  if (!quantisation.is_per_axis()) return {};
  return {{"axis", int64_t{quantisation.axis}}};
}

}  // namespace

int element_number(DataType type) {
  for (int number = TensorProto::FLOAT; number <= TensorProto::BFLOAT16; ++number) {
    const Result<DataType> stored = lowering::boundary_type(number);
    if (stored.ok() && *stored == type) return number;
  }
  return TensorProto::UNDEFINED;
}

ProtoModel::ProtoModel(const graph::Graph& graph, int opset)
    : graph_(graph), opset_(opset), written_(graph.values.size()) {
  model_.set_ir_version(format_version(opset));
  model_.set_producer_name("millrace");
  auto* entry = model_.add_opset_import();
  entry->set_domain("");
  entry->set_version(opset);
  model_.mutable_graph()->set_name("millrace");
  name_values();
  for (const ValueId id : graph.inputs) declare(model_.mutable_graph()->add_input(), id);
  for (const ValueId id : graph.outputs) declare(model_.mutable_graph()->add_output(), id);
}

// Inputs and outputs get their names first, so that they keep them. Other values keep theirs unless
// it is taken.
void ProtoModel::name_values() {
  names_.resize(graph_.values.size());
  for (const auto* boundary : {&graph_.inputs, &graph_.outputs})
    for (const ValueId id : *boundary) names_[id] = unused_name(value(id).name);
  for (ValueId id = 0; id < names_.size(); ++id)
    if (names_[id].empty()) names_[id] = unused_name(value(id).name);
}

std::string ProtoModel::unused(const std::string& wanted, std::unordered_set<std::string>& used) {
  std::string name = wanted.empty() ? "unnamed" : wanted;
  for (int i = 1; !used.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

void ProtoModel::declare(::onnx::ValueInfoProto* info, ValueId id) {
  info->set_name(names_[id]);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(element_number(value(id).type));
  auto* shape = type->mutable_shape();  // a scalar must have an empty shape, not none
  for (const int64_t dim : value(id).shape) shape->add_dim()->set_dim_value(dim);
}

std::string ProtoModel::initializer(const std::string& name, const Value& value) {
  TensorProto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(element_number(value.type));
  tensor->mutable_dims()->Add(value.shape.begin(), value.shape.end());
  const auto bytes = value.constant->bytes;
  tensor->set_raw_data(bytes.data(), bytes.size());
  return name;
}

const std::string& ProtoModel::stored(ValueId id) {
  static const std::string kAbsent;
  if (id == graph::kNoValue) return kAbsent;
  if (value(id).constant && !written_[id]) {
    initializer(names_[id], value(id));
    written_[id] = true;
  }
  return names_[id];
}

const std::string& ProtoModel::numbers(ValueId id) {
  const std::string& name = stored(id);
  if (id == graph::kNoValue) return name;
  const bool narrow = value(id).constant && value(id).type != DataType::kFloat32 &&
                      tensor::fits_float32(value(id).type);
  if (!value(id).quantisation && !narrow) return name;
  if (const auto found = numbers_.find(id); found != numbers_.end()) return found->second;
  const std::string wide =
      narrow ? add("Cast", {name}, {{"to", int64_t{TensorProto::FLOAT}}}) : dequantise(id);
  return numbers_.emplace(id, wide).first->second;
}

std::string ProtoModel::constant(const Value& value) {
  return initializer(unused_name(value.name.empty() ? "constant" : value.name), value);
}

std::string ProtoModel::floats(Dims shape, const std::vector<float>& elements) {
  return constant({{}, DataType::kFloat32, std::move(shape), graph::Constant::of<float>(elements)});
}

std::string ProtoModel::integers(const Dims& elements) {
  return constant({{},
                   DataType::kInt64,
                   {static_cast<int64_t>(elements.size())},
                   graph::Constant::of<int64_t>(elements)});
}

std::string ProtoModel::add(std::string_view type, std::vector<std::string> operands,
                            const ProtoAttributes& attributes) {
  std::string output = unused_name(fmt::format("{}/{}", *node_name_, type));
  add("", type, std::move(operands), {output}, attributes);
  return output;
}

void ProtoModel::add(std::string_view domain, std::string_view type,
                     std::vector<std::string> operands, const std::vector<std::string>& outputs,
                     const ProtoAttributes& attributes) {
  while (!operands.empty() && operands.back().empty()) operands.pop_back();
  ::onnx::NodeProto* node = model_.mutable_graph()->add_node();
  node->set_name(unused(*node_name_, used_node_names_));
  node->set_domain(std::string(domain));
  node->set_op_type(std::string(type));
  for (std::string& operand : operands) node->add_input(std::move(operand));
  for (const std::string& output : outputs) node->add_output(output);
  for (const ProtoAttribute& attribute : attributes) set(node->add_attribute(), attribute);
  if (domain.empty() || !domains_.insert(std::string(domain)).second) return;
  auto* entry = model_.add_opset_import();
  entry->set_domain(std::string(domain));
  entry->set_version(domain_version(domain));
}

// Returns the operands of a QuantizeLinear or DequantizeLinear for a value.
std::vector<std::string> ProtoModel::quantisation_operands(const std::string& numbers, ValueId id) {
  const std::vector<float>& scales = value(id).quantisation->scales;
  Dims shape;
  if (scales.size() > 1) shape.push_back(static_cast<int64_t>(scales.size()));
  Value points = zero_points_of(value(id));
  points.name = names_[id] + "/zero_point";
  return {numbers,
          constant({names_[id] + "/scale", DataType::kFloat32, std::move(shape),
                    graph::Constant::of<float>(scales)}),
          constant(points)};
}

std::string ProtoModel::dequantise(ValueId id) {
  return add("DequantizeLinear", quantisation_operands(stored(id), id),
             axis_of(*value(id).quantisation));
}

void ProtoModel::store(ValueId id) {
  auto& nodes = *model_.mutable_graph()->mutable_node();
  nodes[nodes.size() - 1].set_output(0, names_[id]);
}

void ProtoModel::store_quantised(ValueId id, const std::string& numbers) {
  add("", "QuantizeLinear", quantisation_operands(numbers, id), {names_[id]},
      axis_of(*value(id).quantisation));
}

::onnx::ModelProto ProtoModel::finish() {
  return std::move(model_);
}

}  // namespace millrace::compiler
