#include "tests/e2e/standard_types.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <vector>

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

using Types = std::set<int>;

const Types kFloatingTypes = {TensorProto::FLOAT, TensorProto::FLOAT16, TensorProto::DOUBLE,
                              TensorProto::BFLOAT16};

// The types of operators that libonnx does not have: those of the parameter in question of
// tests/e2e/operator_models.cpp.
Types types_of_new(const std::string& op_type) {
  const std::set<std::string> without_double = {"CausalConvWithState", "LinearAttention",
                                                "RotaryEmbedding", "Swish"};
  if (without_double.contains(op_type))
    return {TensorProto::FLOAT, TensorProto::FLOAT16, TensorProto::BFLOAT16};
  if (op_type == "CumProd")
    return {TensorProto::FLOAT, TensorProto::FLOAT16, TensorProto::DOUBLE, TensorProto::BFLOAT16,
            TensorProto::INT32, TensorProto::INT64,   TensorProto::UINT32, TensorProto::UINT64};
  if (op_type != "BitCast" && op_type != "TensorScatter") return kFloatingTypes;
  Types types;
  for (int type = TensorProto::FLOAT; type <= kInt2; ++type) types.insert(type);
  if (op_type == "BitCast") types.erase(TensorProto::STRING);
  return types;
}

// Types that an opset later than 17 added to those of some operators.
struct Addition {
  int opset;
  Types types;
  std::set<std::string> operators;
};

const std::vector<Addition>& additions() {
  const Types float8 = {kFloat8E4M3FN, kFloat8E4M3FNUZ, kFloat8E5M2, kFloat8E5M2FNUZ};
  const std::set<std::string> take_all_types = {
      "Cast",  "Constant", "ConstantOfShape", "Flatten",   "Identity", "Pad", "Reshape",
      "Shape", "Size",     "Squeeze",         "Transpose", "Unsqueeze"};
  static const std::vector<Addition> kAdditions = {
      {19, float8, {"Cast", "Constant", "Identity", "Reshape", "Shape", "Size"}},
      {20, float8, {"ConstantOfShape"}},
      {20, {TensorProto::BFLOAT16}, {"ConstantOfShape"}},
      {20, {TensorProto::BOOL}, {"ReduceMax", "ReduceMin"}},
      {21, float8, take_all_types},
      {21, {kUint4, kInt4}, take_all_types},
      {22,
       {TensorProto::BFLOAT16},
       {"AveragePool", "Conv", "Elu", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid",
        "HardSwish", "MaxPool", "Mish", "Round", "Selu", "Softplus"}},
      {23, {kFloat4E2M1}, take_all_types},
      {24, {kFloat8E8M0}, take_all_types},
      {25, {kUint2, kInt2}, take_all_types},
      {27, {TensorProto::FLOAT16, TensorProto::BFLOAT16}, {"Range"}},
  };
  return kAdditions;
}

}  // namespace

std::string type_name(int type) {
  constexpr const char* kNarrow[] = {
      "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",
      "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0", "UINT2",          "INT2"};
  if (type >= kFloat8E4M3FN) return kNarrow[type - kFloat8E4M3FN];
  return TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type));
}

std::set<int> standard_types(const std::string& op_type, int opset, Parameter parameter) {
  const auto* schema = ::onnx::OpSchemaRegistry::Schema(op_type, opset);
  if (schema == nullptr) return types_of_new(op_type);
  const auto& parameters = parameter.output ? schema->outputs() : schema->inputs();
  const std::string& type = parameters.at(static_cast<size_t>(parameter.index)).GetTypeStr();
  std::set<int> types;
  for (const auto& constraint : schema->typeConstraintParams()) {
    if (constraint.type_param_str != type) continue;
    for (const std::string& allowed : constraint.allowed_type_strs) types.insert(type_of(allowed));
  }
  for (const Addition& addition : additions())
    if (addition.opset <= opset && addition.operators.contains(op_type))
      types.insert(addition.types.begin(), addition.types.end());
  types.erase(TensorProto::UNDEFINED);
  return types;
}

}  // namespace millrace::test
