#include "tests/e2e/standard_types.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>

namespace millrace::test {
namespace {

using ::onnx::TensorProto;

// "tensor(int8)" -> INT8; UNDEFINED for what is no tensor.
int type_of(const std::string& text) {
  constexpr std::string_view kPrefix = "tensor(";
  if (!text.starts_with(kPrefix)) return TensorProto::UNDEFINED;
  std::string name = text.substr(kPrefix.size(), text.size() - kPrefix.size() - 1);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  TensorProto::DataType type = TensorProto::UNDEFINED;
  TensorProto::DataType_Parse(name, &type);
  return type;
}

}  // namespace

std::set<int> standard_types(const std::string& op_type, int opset, Parameter parameter) {
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(op_type, opset);
  if (schema == nullptr) {
    return {TensorProto::FLOAT, TensorProto::FLOAT16, TensorProto::DOUBLE, TensorProto::BFLOAT16};
  }
  const auto& parameters = parameter.output ? schema->outputs() : schema->inputs();
  const std::string& type = parameters.at(static_cast<size_t>(parameter.index)).GetTypeStr();
  std::set<int> types;
  for (const auto& constraint : schema->typeConstraintParams()) {
    if (constraint.type_param_str != type) continue;
    for (const std::string& allowed : constraint.allowed_type_strs) types.insert(type_of(allowed));
  }
  types.erase(TensorProto::UNDEFINED);
  return types;
}

}  // namespace millrace::test
