#include "tests/e2e/operator_models.h"

#include <cstdint>

#include "tensor/half.h"

namespace millrace::test {
namespace {

// The unsigned integers as wide as a type.
int bits_of(int type) {
  switch (type) {
    case TensorProto::INT16:
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return TensorProto::UINT16;
    case TensorProto::INT32:
    case TensorProto::UINT32:
    case TensorProto::FLOAT:
      return TensorProto::UINT32;
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::DOUBLE:
      return TensorProto::UINT64;
    default:
      return TensorProto::UINT8;
  }
}

void unary(ModelMaker& m) {
  m.node({m.operand("x", m.shape())});
}
void binary(ModelMaker& m) {
  const Dims other = m.shape().empty() ? Dims{} : Dims{m.shape().back(), 1};
  m.node({m.operand("x", m.shape()), m.operand("other", other)});
}

void attention(ModelMaker& m) {
  m.node({m.operand("query", {1, 4, 3, 4}), m.operand("key", {1, 2, 5, 4}),
          m.operand("value", {1, 2, 5, 6}), m.constant("mask", {3, 5})},
         {{"is_causal", 1}, {"scale", 0.01}});
}
void batch_normalization(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.constant("scale", {4}), m.constant("bias", {4}),
          m.constant("mean", {4}), m.constant("variance", {4})});
}
// To integers and back.
void bit_cast(ModelMaker& m) {
  m.node({m.operand("x", kImage)}, {{"to", bits_of(m.type())}}, {"bits"});
  m.node({"bits"}, {{"to", m.type()}});
}
void cast(ModelMaker& m) {
  m.node({m.operand("x", kImage)}, {{"to", TensorProto::INT32}});
}
void causal_convolution(ModelMaker& m) {
  m.node({m.operand("x", {1, 3, 5}), m.constant("w", {3, 1, 2}), m.constant("b", {3})});
}
void clip(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.constant("low", {}), m.constant("high", {})});
}
void concat(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.operand("other", {1, 2, 6, 6})}, {{"axis", 1}});
}
// A constant by itself leaves nothing to run: it is joined with an operand.
void join_with_operand(ModelMaker& m, const std::string& made, const Dims& dims = {2, 3}) {
  m.model().node("Concat", {m.operand("x", dims), made}, {"y"}, {{"axis", 0}});
}
void constant(ModelMaker& m) {
  m.node({}, {{"value", m.tensor("", {4, 3})}}, {"made"});
  join_with_operand(m, "made");
}
void constant_of_shape(ModelMaker& m) {
  m.node({m.ints("shape", {4, 3})}, {{"value", m.tensor("", {1})}}, {"made"});
  join_with_operand(m, "made");
}
void conv(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.constant("w", {3, 4, 3, 3}), m.constant("b", {3})});
}
void cumulative_product(ModelMaker& m) {
  m.model().constant(compiler::test::int_tensor("axis", {}, {1}));
  m.node({m.operand("x", {2, 4, 3}), "axis"}, {{"reverse", 1}});
}
void blocks(ModelMaker& m) {
  m.node({m.operand("x", kImage)}, {{"blocksize", 2}});
}
void expand(ModelMaker& m) {
  m.node({m.operand("x", {1, 4, 1, 6}), m.ints("shape", {2, 4, 3, 6})});
}
void gather(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.ints("indices", {3, 0, -1})}, {{"axis", 1}});
}
void gather_one(ModelMaker& m) {
  m.model().constant(compiler::test::int_tensor("index", {}, {2}));
  m.node({m.operand("x", kImage), "index"}, {{"axis", 1}});
}
void gather_at_run_time(ModelMaker& m) {
  m.model().floats("data", {6, 2}, compiler::test::Floats(12, 0.5f));
  m.node({"data", m.operand("x", {5})});
}
// Few elements, so that the product is a number.
void reduce_to_product(ModelMaker& m) {
  m.node({m.operand("x", {2, 3})});
}
void gemm(ModelMaker& m) {
  m.node({m.operand("x", {2, 3}), m.constant("w", {5, 3}), m.constant("b", {5})}, {{"transB", 1}});
}
void matmul(ModelMaker& m) {
  m.node({m.operand("x", {2, 3, 4}), m.operand("other", {4, 5})});
}
void pad(ModelMaker& m) {
  m.node(
      {m.operand("x", kImage), m.ints("pads", {0, 1, 0, 2, 0, 0, 3, -1}), m.constant("value", {})});
}
void pool(ModelMaker& m) {
  m.node({m.operand("x", kImage)}, {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}});
}
void power_of_floats(ModelMaker& m) {
  m.model().floats("exponent", {}, {2});
  m.node({m.operand("x", kImage), "exponent"});
}
void range(ModelMaker& m) {
  // From 1 to 4, without it.
  m.node({m.constant("start", {}), m.constant("limit", {}, 1), m.constant("delta", {})}, {},
         {"made"});
  join_with_operand(m, "made", {2});
}
void reshape(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.ints("shape", {2, 2, -1})});
}
void resize(ModelMaker& m, const char* mode) {
  m.model().floats("scales", {4}, {1, 1, 2, 2});
  m.node({m.operand("x", kImage), "", "scales"}, {{"mode", mode}});
}
void resize_nearest(ModelMaker& m) {
  resize(m, "nearest");
}
void resize_linear(ModelMaker& m) {
  resize(m, "linear");
}
void rms_normalization(ModelMaker& m) {
  m.node({m.operand("x", {2, 3, 5}), m.constant("scale", {5}, 1)});
}
void rotary_embedding(ModelMaker& m) {
  m.node(
      {m.operand("x", {1, 2, 3, 4}), m.constant("cos", {1, 3, 2}), m.constant("sin", {1, 3, 2})});
}
void slice(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.ints("starts", {1, 5}), m.ints("ends", {3, -7}),
          m.ints("axes", {1, 3}), m.ints("steps", {1, -2})});
}
void split(ModelMaker& m) {
  m.node({m.operand("x", kImage)}, {{"axis", 1}}, {"y", "rest"});
}
void squeeze(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.ints("axes", {0})});
}
void tensor_scatter(ModelMaker& m) {
  m.node({m.operand("cache", {2, 2, 5, 3}), m.operand("update", {2, 2, 2, 3}),
          m.ints("positions", {4, 1})},
         {{"mode", "circular"}});
}
void tile(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.ints("repeats", {1, 2, 1, 3})});
}
void transpose(ModelMaker& m) {
  Dims permutation;
  for (size_t i = 0; i < m.shape().size(); ++i)
    permutation.push_back(static_cast<int64_t>((i + 1) % m.shape().size()));
  m.node({m.operand("x", m.shape())}, {{"perm", permutation}});
}
// The scale keeps results within the range of 16-bit floats.
void linear_attention(ModelMaker& m) {
  m.node(
      {m.operand("query", {1, 4, 6}), m.operand("key", {1, 4, 6}), m.operand("value", {1, 4, 6})},
      {{"q_num_heads", 2}, {"kv_num_heads", 2}, {"update_rule", "linear"}, {"scale", 0.001}});
}
void unsqueeze(ModelMaker& m) {
  m.node({m.operand("x", kImage), m.ints("axes", {2})});
}
void upsample(ModelMaker& m) {
  m.model().floats("scales", {4}, {1, 1, 2, 2});
  m.node({m.operand("x", kImage), "scales"});
}
void where(ModelMaker& m) {
  m.model().constant(compiler::test::int_tensor("condition", {1}, {1}, TensorProto::BOOL));
  m.node({"condition", m.operand("x", kImage), m.operand("other", kImage)});
}

uint16_t half_bits(int type, float value) {
  return type == TensorProto::FLOAT16 ? tensor::float_to_fp16(value) : tensor::float_to_bf16(value);
}

// An element in the field of TensorProto that its type calls for.
void add_element(TensorProto& tensor, double element) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return tensor.add_float_data(static_cast<float>(element));
    case TensorProto::DOUBLE:
      return tensor.add_double_data(element);
    case TensorProto::INT64:
      return tensor.add_int64_data(static_cast<int64_t>(element));
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return tensor.add_uint64_data(static_cast<uint64_t>(element));
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return tensor.add_int32_data(half_bits(tensor.data_type(), static_cast<float>(element)));
    default:
      return tensor.add_int32_data(static_cast<int32_t>(element));
  }
}

}  // namespace

double operand_element(size_t index, bool boolean) {
  return static_cast<double>(boolean ? index % 2 : 1 + index * 7 % 4);
}

ModelMaker::ModelMaker(std::string op_type, int opset, int type, bool as_constants, bool boolean,
                       Dims shape)
    : op_type_(std::move(op_type)),
      type_(type),
      as_constants_(as_constants),
      boolean_(boolean),
      shape_(std::move(shape)),
      model_(opset) {
  if (as_constants) model_.input("unused", {1});
  model_.output("y");
}

std::string ModelMaker::operand(const std::string& name, const Dims& dims) {
  if (as_constants_) return constant(name, dims);
  model_.input(name, dims, type_);
  return name;
}

std::string ModelMaker::constant(const std::string& name, const Dims& dims, size_t first) {
  model_.constant(tensor(name, dims, first));
  return name;
}

TensorProto ModelMaker::tensor(const std::string& name, const Dims& dims, size_t first) const {
  TensorProto result;
  result.set_name(name);
  result.set_data_type(type_);
  size_t count = 1;
  for (const int64_t dim : dims) {
    result.add_dims(dim);
    count *= static_cast<size_t>(dim);
  }
  for (size_t i = 0; i < count; ++i) add_element(result, operand_element(first + i, boolean_));
  return result;
}

std::string ModelMaker::ints(const std::string& name, const Dims& elements) {
  model_.ints(name, elements);
  return name;
}

void ModelMaker::node(const Names& inputs, const Attributes& attributes, const Names& outputs) {
  model_.node(op_type_, inputs, outputs, attributes);
}

const std::vector<OperatorCase>& operator_cases() {
  static const std::vector<OperatorCase> kCases = {
      {"Abs", unary},
      {"Add", binary},
      {"And", binary, {}, TensorProto::BOOL},
      {"AveragePool", pool},
      {"Attention", attention, {}, TensorProto::FLOAT, kNewestOpset, 23},
      {"BatchNormalization", batch_normalization},
      {"BitCast", bit_cast, {}, TensorProto::FLOAT, kNewestOpset, 26},
      {"Cast", cast},
      {"CausalConvWithState", causal_convolution, {}, TensorProto::FLOAT, kNewestOpset, 27},
      {"Ceil", unary},
      {"Clip", clip},
      {"Concat", concat},
      {"Constant", constant, {true, 0}},
      {"ConstantOfShape", constant_of_shape, {true, 0}},
      {"Conv", conv},
      {"CumProd", cumulative_product, {}, TensorProto::FLOAT, kNewestOpset, 26},
      {"DepthToSpace", blocks},
      {"Div", binary},
      {"Dropout", unary},
      {"Elu", unary},
      {"Equal", binary},
      {"Erf", unary},
      {"Exp", unary},
      {"Expand", expand},
      {"Flatten", unary},
      {"Floor", unary},
      {"Gather", gather},
      {"Gather", gather_one},
      {"Gather", gather_at_run_time, {false, 1}, TensorProto::INT64},
      {"Gelu", unary},
      {"Gemm", gemm},
      {"GlobalAveragePool", unary},
      {"GlobalMaxPool", unary},
      {"Greater", binary},
      {"GreaterOrEqual", binary},
      {"HardSigmoid", unary},
      {"HardSwish", unary},
      {"Identity", unary},
      {"LeakyRelu", unary},
      {"Less", binary},
      {"LessOrEqual", binary},
      {"LinearAttention", linear_attention, {}, TensorProto::FLOAT, kNewestOpset, 27},
      {"Log", unary},
      {"LogSoftmax", unary},
      {"MatMul", matmul},
      {"Max", binary},
      {"MaxPool", pool},
      {"Mean", binary},
      {"Min", binary},
      {"Mish", unary},
      {"Mul", binary},
      {"Neg", unary},
      {"NonZero", unary},
      {"Not", unary, {}, TensorProto::BOOL},
      {"Or", binary, {}, TensorProto::BOOL},
      {"PRelu", binary},
      {"Pad", pad},
      {"Pow", binary},
      {"Pow", power_of_floats},
      {"RMSNormalization", rms_normalization, {}, TensorProto::FLOAT, kNewestOpset, 23},
      {"Range", range},
      {"Reciprocal", unary},
      {"ReduceL1", unary},
      {"ReduceL2", unary},
      {"ReduceLogSum", unary},
      {"ReduceMax", unary},
      {"ReduceMean", unary},
      {"ReduceMin", unary},
      {"ReduceProd", reduce_to_product},
      {"ReduceSum", unary},
      {"ReduceSumSquare", unary},
      {"Relu", unary},
      {"Reshape", reshape},
      {"Resize", resize_nearest},
      {"Resize", resize_linear},
      {"RotaryEmbedding", rotary_embedding, {}, TensorProto::FLOAT, kNewestOpset, 23},
      {"Round", unary},
      {"Selu", unary},
      {"Shape", unary},
      {"Sigmoid", unary},
      {"Size", unary},
      {"Slice", slice},
      {"Softmax", unary},
      {"Softplus", unary},
      {"SpaceToDepth", blocks},
      {"Split", split},
      {"Sqrt", unary},
      {"Squeeze", squeeze},
      {"Sub", binary},
      {"Sum", binary},
      {"Swish", unary, {}, TensorProto::FLOAT, kNewestOpset, 24},
      {"Tanh", unary},
      {"TensorScatter", tensor_scatter, {}, TensorProto::FLOAT, kNewestOpset, 24},
      {"Tile", tile},
      {"Transpose", transpose},
      {"Unsqueeze", unsqueeze},
      {"Upsample", upsample, {false, 0}, TensorProto::FLOAT, 9},
      {"Where", where, {false, 1}},
  };
  return kCases;
}

}  // namespace millrace::test
