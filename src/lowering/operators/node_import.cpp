// Access to operands and attributes, and the naming of what a handler adds: the first node or
// constant gets the node's name, later ones "NAME/1", "NAME/2" and so on.
#include "lowering/operators/node_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <variant>

#include "graph/shape.h"
#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/known_attributes.h"

namespace millrace::lowering {

namespace {

// The names of attribute kinds, in the order of network::Attribute::Value.
constexpr const char* kKinds[] = {"INT",    "FLOAT",   "STRING", "INTS",
                                  "FLOATS", "STRINGS", "TENSOR", "GRAPH"};
static_assert(std::size(kKinds) == std::variant_size_v<network::Attribute::Value>);

const network::Attribute* attribute_of(const network::Node& node, std::string_view name) {
  const auto entry = std::ranges::find(node.attributes, name, &network::Attribute::name);
  return entry == node.attributes.end() ? nullptr : &*entry;
}

}  // namespace

NodeImport::NodeImport(GraphBuilder& builder, const network::Node& node, std::string name,
                       int opset, std::vector<ValueId> operands)
    : builder_(builder),
      node_(node),
      name_(std::move(name)),
      opset_(opset),
      operands_(std::move(operands)),
      outputs_(node.outputs.size(), kNoValue) {}

Status NodeImport::require_constant(size_t index) const {
  // An operand without elements is known, whatever makes it.
  if (is_constant(index) || value(index).elements() == 0) return {};
  asked_.push_back(operand(index));
  return unsupported(fmt::format("its input '{}' is not a constant", value(index).name));
}

Result<graph::Dims> NodeImport::constant_ints(size_t index) const {
  const graph::Value& source = value(index);
  MILLRACE_RETURN_IF_ERROR(require_constant(index));
  if (tensor::is_floating(source.type)) {
    return invalid_argument(fmt::format("its input '{}' is {}, not an integer type", source.name,
                                        tensor::to_string(source.type)));
  }
  graph::Dims result;
  if (source.elements() == 0) return result;
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
  MILLRACE_RETURN_IF_ERROR(require_constant(index));
  std::vector<float> result;
  if (source.elements() == 0) return result;
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

template <class T>
const T* NodeImport::find(const char* name) {
  const network::Attribute* attribute = attribute_of(node_, name);
  if (attribute == nullptr) return nullptr;
  if (const auto* value = std::get_if<T>(&attribute->value)) return value;
  const size_t wanted = network::Attribute::Value(T()).index();
  attribute_status_ =
      invalid_argument(fmt::format("its attribute '{}' is of kind {}, not {}", name,
                                   kKinds[attribute->value.index()], kKinds[wanted]));
  return nullptr;
}

bool NodeImport::has_attribute(const char* name) const {
  return attribute_of(node_, name) != nullptr;
}

Status NodeImport::check_attributes() const {
  for (const network::Attribute& attribute : node_.attributes)
    if (!is_known_attribute(node_.type, attribute.name))
      return unsupported(fmt::format("its attribute '{}' is not supported", attribute.name));
  return {};
}

int64_t NodeImport::int_attribute(const char* name, int64_t default_value) {
  const auto* value = find<int64_t>(name);
  return value != nullptr ? *value : default_value;
}

float NodeImport::float_attribute(const char* name, float default_value) {
  const auto* value = find<float>(name);
  return value != nullptr ? *value : default_value;
}

std::string NodeImport::string_attribute(const char* name, const std::string& default_value) {
  const auto* value = find<std::string>(name);
  return value != nullptr ? *value : default_value;
}

std::optional<graph::Dims> NodeImport::ints_attribute(const char* name) {
  const auto* value = find<graph::Dims>(name);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<float>> NodeImport::floats_attribute(const char* name) {
  const auto* value = find<std::vector<float>>(name);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<std::string>> NodeImport::strings_attribute(const char* name) {
  const auto* value = find<std::vector<std::string>>(name);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

const graph::Value* NodeImport::tensor_attribute(const char* name) {
  const auto* value = find<graph::Value>(name);
  if (value == nullptr || value->constant) return value;
  attribute_status_ = unsupported(value->name);
  return nullptr;
}

std::string NodeImport::next_name() {
  const size_t index = emitted_++;
  return index == 0 ? name_ : fmt::format("{}/{}", name_, index);
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

Result<std::vector<ValueId>> NodeImport::emit_fallback(graph::Fallback op,
                                                       std::vector<ValueId> inputs,
                                                       size_t outputs) {
  return builder_.emit_fallback(next_name(), std::move(op), std::move(inputs), outputs, &asked_);
}

Result<std::vector<ValueId>> NodeImport::sequence(size_t index) const {
  const auto* members = builder_.sequence_of(operand(index));
  if (members != nullptr) return *members;
  return invalid_argument(fmt::format("its input {} is not a sequence", index));
}

Result<ValueId> NodeImport::add_sequence(std::vector<ValueId> members) {
  return builder_.add_sequence(next_name(), std::move(members));
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
    return invalid_argument(
        fmt::format("axes {} contain a dimension twice", graph::to_string(axes)));
  }
  return result;
}

}  // namespace millrace::lowering
