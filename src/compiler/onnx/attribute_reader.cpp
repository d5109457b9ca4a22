#include "compiler/onnx/attribute_reader.h"

#include <fmt/format.h>

#include "compiler/onnx/tensor_reader.h"

namespace millrace::compiler {
namespace {

using Value = network::Attribute::Value;
using ::onnx::AttributeProto;

// Files of the first format versions do not state the kind of an attribute; it follows from the
// field that is set.
int kind_of(const AttributeProto& attribute) {
  if (attribute.has_type()) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::INTS;
}

// Returns the placeholder for an attribute that cannot be used: see read_attribute().
Value unusable(std::string reason) {
  return graph::Value{std::move(reason), tensor::DataType::kUnknown, {}, std::nullopt};
}

Result<Value> read_tensor_attribute(::onnx::TensorProto& tensor) {
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL)
    return unusable("its value lies in another file");
  Result<graph::Value> value = read_tensor(std::move(tensor), {});
  if (value.status().code() == StatusCode::kUnsupported) return unusable(value.status().message());
  MILLRACE_RETURN_IF_ERROR(value.status());
  value->name.clear();
  return Value(*std::move(value));
}

}  // namespace

Result<Value> read_attribute(AttributeProto& attribute) {
  switch (kind_of(attribute)) {
    case AttributeProto::INT:
      return Value(attribute.i());
    case AttributeProto::FLOAT:
      return Value(attribute.f());
    case AttributeProto::STRING:
      return Value(attribute.s());
    case AttributeProto::INTS:
      return Value(graph::Dims(attribute.ints().begin(), attribute.ints().end()));
    case AttributeProto::FLOATS:
      return Value(std::vector<float>(attribute.floats().begin(), attribute.floats().end()));
    case AttributeProto::STRINGS:
      return Value(
          std::vector<std::string>(attribute.strings().begin(), attribute.strings().end()));
    case AttributeProto::TENSOR:
      return read_tensor_attribute(*attribute.mutable_t());
    default:
      return unusable(fmt::format("its attribute '{}' is of kind {}", attribute.name(),
                                  AttributeProto::AttributeType_Name(attribute.type())));
  }
}

}  // namespace millrace::compiler
