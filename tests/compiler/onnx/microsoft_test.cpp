// Operators of com.microsoft that become those of the standard: computed from constants. Values of
// ONNX Runtime 1.30 where nothing else is said.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/compiler/onnx_builder.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::compiler::test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// An operand that is left out.
const TensorProto kNone;

// A model with one node over constants, whose output number `output` is y.
Model model_of(const std::string& type, const std::vector<TensorProto>& operands,
               const Attributes& attributes, size_t output) {
  Model model(17);
  model.domain("com.microsoft", 1);
  Names names;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool is_there = operands[i].has_data_type();
    names.push_back(is_there ? "operand" + std::to_string(i) : "");
    if (!is_there) continue;
    TensorProto named = operands[i];
    named.set_name(names.back());
    model.constant(named);
  }
  Names outputs;
  for (size_t i = 0; i <= output; ++i)
    outputs.push_back(i == output ? "y" : "output" + std::to_string(i));
  model.node(type, names, outputs, attributes);
  model.proto.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  return model;
}

Floats compute(const std::string& type, const std::vector<TensorProto>& operands,
               const Attributes& attributes = {}, size_t output = 0) {
  Model model = model_of(type, operands, attributes, output);
  const auto results = lowering::interpret(import_valid(model.input("unused", {1}).output("y")));
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? (*results)[0] : Floats();
}

TensorProto floats(const Dims& dims, const Floats& elements) {
  return tensor("", dims, elements);
}
TensorProto integers(const Dims& dims, const Dims& elements) {
  return int_tensor("", dims, elements, TensorProto::INT32);
}

auto near(const Floats& expected) {
  return Pointwise(FloatNear(1e-3f), expected);
}

TEST(MicrosoftImport, FusedConvAddsAndActivates) {
  const auto x = floats({1, 1, 2, 2}, {1, -2, 3, -4}), weight = floats({1, 1, 1, 1}, {2});
  const auto bias = floats({1}, {1}), z = floats({1, 1, 2, 2}, {0, 1, -10, 20});
  EXPECT_THAT(compute("FusedConv", {x, weight, bias, z}, {{"activation", "Relu"}}),
              ElementsAre(3, 0, 0, 13));
  const std::pair<Attributes, Floats> cases[] = {
      {{{"activation", "LeakyRelu"}, {"activation_params", Floats{.5f}}}, {2, -2, 6, -4}},
      {{{"activation", "Clip"}, {"activation_params", Floats{-1, 3}}}, {2, -1, 3, -1}},
      {{{"activation", "HardSigmoid"}, {"activation_params", Floats{.25f, .5f}}}, {1, 0, 1, 0}},
      {{{"activation", "Tanh"}}, {.964f, -.9993f, 1, -1}}};
  for (const auto& [attributes, expected] : cases)
    EXPECT_THAT(compute("FusedConv", {x, weight}, attributes), near(expected));
  const Model unknown = model_of("FusedConv", {x, weight}, {{"activation", "Sine"}}, 0);
  EXPECT_NE(import_failure(Model(unknown).input("unused", {1}).output("y")).message().find("Sine"),
            std::string::npos);
}

// With --reference convolutions are the fallback operator Conv, as those of the standard are.
Floats compute_as_written(const std::string& type, const std::vector<TensorProto>& operands,
                          const Attributes& attributes = {}, size_t output = 0) {
  const Model model = model_of(type, operands, attributes, output);
  const auto network = read_network(Model(model).input("unused", {1}).output("y").bytes(), {});
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  if (!network.ok()) return {};
  const auto stage =
      lowering::lower_whole(*network, device::cpu::capabilities(), false, /*as_written=*/true);
  EXPECT_TRUE(stage.ok()) << stage.status().to_string();
  if (!stage.ok()) return {};
  const auto results = lowering::interpret(stage->graph);
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? (*results)[0] : Floats();
}

TEST(MicrosoftImport, FusedConvIsComputedAsItIsWritten) {
  const auto x = floats({1, 1, 2, 2}, {1, -2, 3, -4}), weight = floats({1, 1, 2, 2}, {2, 1, 0, -1});
  const auto bias = floats({1}, {1}), z = floats({1, 1, 1, 1}, {5});
  const Attributes attributes = {
      {"activation", "Relu"}, {"auto_pad", "SAME_UPPER"}, {"strides", Dims{2, 2}}};
  EXPECT_THAT(compute_as_written("FusedConv", {x, weight, bias, z}, attributes), ElementsAre(10));
}

TEST(MicrosoftImport, FusedMatMulTransposesAndScales) {
  const auto a = floats({2, 1, 2}, {1, 2, 3, 4}), b = floats({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(compute("FusedMatMul", {a, b}, {{"transBatchA", 1}, {"alpha", .5}}),
              ElementsAre(3.5f, 5, 7.5f, 11));
  EXPECT_THAT(compute("FusedMatMul", {b, b}, {{"transA", 1}, {"transB", 1}}),
              ElementsAre(7, 15, 10, 22));
}

TEST(MicrosoftImport, FusedGemmActivates) {
  EXPECT_THAT(compute("FusedGemm",
                      {floats({1, 2}, {1, 2}), floats({2, 2}, {1, 2, -3, 4}), floats({2}, {1, 1})},
                      {{"activation", "LeakyRelu"}, {"activation_alpha", .5}, {"beta", 2.0}}),
              ElementsAre(-1.5f, 12));
}

TEST(MicrosoftImport, FormsOfGelu) {
  const auto x = floats({2}, {1, -2}), bias = floats({2}, {1, 1});
  EXPECT_THAT(compute("Gelu", {x}), near({.84134f, -.0455f}));
  EXPECT_THAT(compute("BiasGelu", {x, bias}), near({1.9545f, -.15866f}));
  EXPECT_THAT(compute("FastGelu", {x, bias}), near({1.9546f, -.15881f}));
  EXPECT_THAT(compute("FastGelu", {x}), near({.84119f, -.0454f}));
  EXPECT_THAT(compute("QuickGelu", {x}), near({.84580f, -.06434f}));
  EXPECT_THAT(compute("BiasSplitGelu", {floats({1, 1, 2}, {2, 0}), bias}), near({2.5240f}));
}

TEST(MicrosoftImport, SkipLayerNormalizationGivesTheSumToo) {
  const std::vector<TensorProto> operands = {floats({1, 1, 2}, {1, 2}), floats({1, 2}, {3, 4}),
                                             floats({2}, {1, 2}), floats({2}, {.5f, 0}),
                                             floats({2}, {0, 2})};
  EXPECT_THAT(compute("SkipLayerNormalization", operands), near({-.5f, 2}));
  EXPECT_THAT(compute("SkipLayerNormalization", operands, {}, 3), ElementsAre(4, 8));
  EXPECT_THAT(compute("SkipSimplifiedLayerNormalization",
                      {operands[0], operands[1], operands[2], operands[4]}),
              near({.63246f, 2.52982f}));
}

TEST(MicrosoftImport, EmbedLayerNormalizationLooksUpAndCounts) {
  const auto ids = integers({1, 2}, {1, 0}), mask = integers({1, 2}, {1, 0});
  const auto words = floats({2, 2}, {1, 2, 3, 4}), positions = floats({3, 2}, {0, 1, 0, 2, 9, 9});
  const auto segments = floats({2, 2}, {10, 20, 30, 40}), scale = floats({2}, {1, 1}),
             bias = floats({2}, {0, 5});
  const std::vector<TensorProto> operands = {ids,      ids,   words, positions,
                                             segments, scale, bias,  mask};
  EXPECT_THAT(compute("EmbedLayerNormalization", operands), near({-1, 6, -1, 6}));
  const auto tokens = computed(model_of("EmbedLayerNormalization", operands, {}, 1));
  EXPECT_EQ(content<int32_t>(tokens), content<int32_t>({1}, {1}));
  EXPECT_THAT(compute("EmbedLayerNormalization", operands, {}, 2), ElementsAre(33, 45, 11, 24));
}

const auto kX = floats({1, 2, 4}, {-.5f, -.25f, 0, .25f, .5f, .75f, 1, 1.25f});

// Weights and bias of a projection for two heads of size 2.
std::vector<TensorProto> projected() {
  Floats weights, bias;
  for (int i = 0; i < 48; ++i) weights.push_back(static_cast<float>(i % 7 - 3) * .25f);
  for (int i = 0; i < 12; ++i) bias.push_back(static_cast<float>(i % 5 - 2) * .1f);
  return {kX, floats({4, 12}, weights), floats({12}, bias)};
}

// The result for one sample of two heads of size 2. The importer computes everything before the
// softmax; the rest is done here.
Floats attend(const std::string& type, const std::vector<TensorProto>& operands,
              const Attributes& attributes) {
  Model model = model_of(type, operands, attributes, 0);
  const graph::Graph graph = import_valid(model.input("unused", {1}).output("y"));
  if (graph.nodes.size() < 2) return {};
  const auto elements = [&](const graph::Node& node, size_t input) {
    return content<float>(graph.values[node.inputs[input]]);
  };
  const auto [shape, scores] = elements(graph.nodes[0], 0);
  const auto values = elements(graph.nodes[1], 1).second;
  if (shape.size() != 4 || values.empty()) return {};
  const auto queries = static_cast<size_t>(shape[2]), keys = static_cast<size_t>(shape[3]);
  Floats result(queries * 4);
  for (size_t row = 0; row < 2 * queries; ++row) {
    const size_t head = row / queries, query = row % queries;
    float sum = 0, first = 0, second = 0;
    for (size_t key = 0; key < keys; ++key) {
      const float weight = std::exp(scores[row * keys + key]);
      sum += weight;
      first += weight * values[(head * keys + key) * 2];
      second += weight * values[(head * keys + key) * 2 + 1];
    }
    result[query * 4 + head * 2] = first / sum;
    result[query * 4 + head * 2 + 1] = second / sum;
  }
  return result;
}

TEST(MicrosoftImport, AttentionMasksKeys) {
  const Floats first_key_only = {.1f, .5125f, -.0125f, -.0375f, .1f, .5125f, -.0125f, -.0375f};
  for (const TensorProto& mask :
       {integers({1, 2}, {1, 0}), integers({1}, {1}), integers({2}, {1, 0}),
        integers({1, 2, 2}, {1, 0, 1, 0}), integers({1, 1, 3, 3}, {1, 0, 0, 1, 0, 0, 1, 0, 0})}) {
    std::vector<TensorProto> operands = projected();
    operands.push_back(mask);
    EXPECT_THAT(attend("Attention", operands, {{"num_heads", 2}}), near(first_key_only));
  }
  EXPECT_THAT(attend("Attention", projected(), {{"num_heads", 2}, {"unidirectional", 1}}),
              near({.1f, .5125f, -.0125f, -.0375f, .239f, .2344f, .186f, -.1368f}));
}

TEST(MicrosoftImport, AttentionGoesOnFromThePast) {
  Floats past;
  for (int i = 0; i < 16; ++i) past.push_back(static_cast<float>(i % 5 - 2) * .5f);
  std::vector<TensorProto> operands = projected();
  operands.push_back(kNone);
  operands.push_back(floats({2, 1, 2, 2, 2}, past));
  const Attributes attributes = {{"num_heads", 2}, {"unidirectional", 1}};
  EXPECT_THAT(attend("Attention", operands, attributes),
              near({-.104f, .3673f, .3173f, -.1504f, .0528f, .3481f, .4061f, -.3076f}));
  const Floats present = compute("Attention", operands, attributes, 1);
  ASSERT_EQ(present.size(), 32u);
  EXPECT_THAT(Floats(present.begin(), present.begin() + 8),
              near({-1, -.5f, 0, .5f, .2625f, -.2625f, .0125f, .4875f}));
}

TEST(MicrosoftImport, MultiHeadAttentionAddsItsBias) {
  EXPECT_THAT(attend("MultiHeadAttention", {kX, kX, kX, projected()[2]}, {{"num_heads", 2}}),
              near({-.0775f, .2725f, .3616f, .7116f, .2619f, .6119f, .6405f, .9905f}));
}

TEST(MicrosoftImport, AttentionRefusesWhatDoesNotFit) {
  const auto failure = [](std::vector<TensorProto> operands, const Attributes& attributes) {
    return import_failure(
               model_of("Attention", operands, attributes, 0).input("unused", {1}).output("y"))
        .message();
  };
  std::vector<TensorProto> masked = projected();
  masked.push_back(integers({1, 3}, {1, 1, 1}));
  EXPECT_NE(failure(projected(), {}).find("num_heads"), std::string::npos);
  EXPECT_NE(failure(projected(), {{"num_heads", 3}}).find("multiple of 3 heads"),
            std::string::npos);
  EXPECT_NE(failure(masked, {{"num_heads", 2}}).find("a mask [1,3]"), std::string::npos);
  EXPECT_NE(failure(projected(), {{"num_heads", 2}, {"qkv_hidden_sizes", Dims{8, 8, -4}}})
                .find("sizes [8,8,-4]"),
            std::string::npos);
}

// The same of a result of bytes.
std::vector<uint8_t> compute_bytes(const std::string& type,
                                   const std::vector<TensorProto>& operands,
                                   const Attributes& attributes = {}) {
  const Floats numbers = compute(type, operands, attributes);
  return {numbers.begin(), numbers.end()};
}

TEST(MicrosoftImport, ProductsOfIntegersWithScales) {
  const auto a = int_tensor("", {1, 2}, {12, 8}, TensorProto::UINT8);
  const auto b = int_tensor("", {2, 2}, {1, -2, 3, 4}, TensorProto::INT8);
  const auto ten = int_tensor("", {}, {10}, TensorProto::UINT8);
  const auto zero = int_tensor("", {}, {0}, TensorProto::INT8);
  const auto half = floats({}, {.5f}), scales = floats({2}, {1, 2}), bias = floats({2}, {1, 1});
  // [2, -2] by b is [-4, -12].
  EXPECT_THAT(compute("MatMulIntegerToFloat", {a, b, half, scales, ten, zero, bias}),
              ElementsAre(-1, -11));
  EXPECT_THAT(compute("QGemm", {a, half, ten, b, scales, zero}), ElementsAre(-2, -12));
  EXPECT_THAT(
      compute_bytes("QGemm", {a, half, ten, b, scales, zero, integers({2}, {8, 0}), half, ten}),
      ElementsAre(14, 0));
}

TEST(MicrosoftImport, DynamicQuantizeMatMulQuantisesItsFirstFactor) {
  EXPECT_THAT(compute("DynamicQuantizeMatMul",
                      {floats({1, 2}, {255, 51}), int_tensor("", {2, 1}, {1, 2}, TensorProto::INT8),
                       floats({}, {.5f})}),
              ElementsAre(178.5f));
}

TEST(MicrosoftImport, QuantisedFunctions) {
  const auto bytes = [](const Dims& elements) {
    return int_tensor("", {static_cast<int64_t>(elements.size())}, elements, TensorProto::UINT8);
  };
  const auto one = floats({}, {1}), half = floats({}, {.5f}),
             zero = int_tensor("", {}, {0}, TensorProto::UINT8),
             ten = int_tensor("", {}, {10}, TensorProto::UINT8);
  EXPECT_THAT(compute_bytes("QLinearReduceMean", {bytes({12, 20}), half, ten, half, zero},
                            {{"axes", Dims{0}}}),
              ElementsAre(6));
  const auto choice = int_tensor("", {2}, {1, 0}, TensorProto::BOOL);
  EXPECT_THAT(compute_bytes("QLinearWhere", {choice, bytes({4, 4}), half, zero, bytes({14, 14}),
                                             one, ten, half, ten}),
              ElementsAre(14, 18));
}

// The operators, in order, that remain of a node over constants which import does not fold at once.
std::vector<std::string> operators_of(const std::string& type,
                                      const std::vector<TensorProto>& operands,
                                      const Attributes& attributes) {
  Model model = model_of(type, operands, attributes, 0);
  std::vector<std::string> names;
  for (const graph::Node& node : import_valid(model.input("unused", {1}).output("y")).nodes)
    names.emplace_back(graph::name_of(node.op));
  return names;
}

// Computed by hand: two blocks of a column, of numbers from 0 to 15.
TEST(MicrosoftImport, MatMulNBits) {
  const Attributes attributes = {{"K", 3}, {"N", 2}, {"bits", 4}, {"block_size", 2}};
  // Columns 9, 10, 4 and 8, 0, 15, the last block filled up.
  const auto weights = int_tensor("", {2, 2, 1}, {0xa9, 0x04, 0x08, 0x0f}, TensorProto::UINT8);
  const auto scales = floats({4}, {1, .5f, 2, 10});
  const auto x = floats({1, 3}, {1, 10, 100});
  // Less 8: (1, 2, -4 / 2) and (0, -8 * 2, 7 * 10).
  EXPECT_THAT(compute("MatMulNBits", {x, weights, scales}, attributes), ElementsAre(-179, 6840));
  const auto zeros = int_tensor("", {2}, {0x49, 0xf8}, TensorProto::UINT8);
  // Less 9 and 4, 8 and 15: (0, 1, 0) and (0, -8 * 2, 0).
  EXPECT_THAT(compute("MatMulNBits", {x, weights, scales, zeros}, attributes),
              ElementsAre(10, -160));
}

// The operators that MatMulNBits of a matrix of that many rows becomes.
std::vector<std::string> operators_of_product(int64_t rows) {
  TensorProto weights = int_tensor("", {2, 2, 1}, {0xa9, 0x04, 0x08, 0x0f}, TensorProto::UINT8);
  TensorProto scales = floats({4}, {1, .5f, 2, 10});
  weights.set_name("weights");
  scales.set_name("scales");
  Model model(17);
  model.domain("com.microsoft", 1).constant(weights).constant(scales);
  model.node("MatMulNBits", {"x", "weights", "scales"}, {"y"},
             {{"K", 3}, {"N", 2}, {"bits", 4}, {"block_size", 2}});
  model.proto.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  std::vector<std::string> names;
  for (const graph::Node& node : import_valid(model.input("x", {rows, 3}).output("y")).nodes)
    names.emplace_back(graph::name_of(node.op));
  return names;
}

TEST(MicrosoftImport, MatMulNBitsOfFewRowsKeepsPackedWeights) {
  EXPECT_THAT(operators_of_product(8), ElementsAre("com.microsoft.MatMulNBits"));
  EXPECT_THAT(operators_of_product(9), ElementsAre("MatMul"));
}

// Why a node over constants is refused.
std::string refusal(const std::string& type, const std::vector<TensorProto>& operands,
                    const Attributes& attributes) {
  Model model = model_of(type, operands, attributes, 0);
  return import_failure(model.input("unused", {1}).output("y")).message();
}

TEST(MicrosoftImport, MatMulNBitsRefusesWhatDoesNotFit) {
  const auto x = floats({1, 3}, {1, 10, 100}), scales = floats({4}, {1, .5f, 2, 10});
  const auto weights = int_tensor("", {2, 2, 1}, {0xa9, 0x04, 0x08, 0x0f}, TensorProto::UINT8);
  const auto attributes = [](int depth, int bits) {
    return Attributes{{"K", depth}, {"N", 2}, {"bits", bits}, {"block_size", 2}};
  };
  const auto reason = [&](const std::vector<TensorProto>& operands, const Attributes& with) {
    return refusal("MatMulNBits", operands, with);
  };
  EXPECT_THAT(reason({x, weights, scales}, attributes(3, 5)), HasSubstr("5 bits"));
  EXPECT_THAT(reason({x, weights, scales}, attributes(9, 4)),
              HasSubstr("input 1 has shape [2,2,1]"));
  EXPECT_THAT(reason({x, weights, scales}, attributes(-3, 4)), HasSubstr("out of range"));
  const auto few = int_tensor("", {1}, {0x49}, TensorProto::UINT8);
  EXPECT_THAT(reason({x, weights, scales, few}, attributes(3, 4)), HasSubstr("input 3"));
  const auto far = integers({3}, {0, 1, 2});
  EXPECT_THAT(reason({x, weights, scales, kNone, far}, attributes(3, 4)), HasSubstr("g_idx"));
}

// The first of two weights lies in the upper half of a byte.
TEST(MicrosoftImport, MatMulBnb4LooksNumbersUp) {
  const auto x = floats({1, 2}, {1, 10});
  const auto weights = int_tensor("", {2}, {0x3d, 0x5f}, TensorProto::UINT8);
  const auto attributes = [](int type, int transposed) {
    return Attributes{
        {"K", 2}, {"N", 2}, {"block_size", 2}, {"quant_type", type}, {"transB", transposed}};
  };
  const auto largest = floats({2}, {1, 2});
  // FP4: 1 and -1/2, 2 * 1/2 and 2 * -1/4. The weights are a matrix [N, K].
  EXPECT_THAT(compute("MatMulBnb4", {x, weights, largest}, attributes(0, 1)), near({-4, -4}));
  EXPECT_THAT(compute("MatMulBnb4", {x, weights, largest}, attributes(0, 0)), near({11, -5.5f}));
  // NF4: -.3949 and .5626, 2 * -.1848 and 2 * 1.
  EXPECT_THAT(compute("MatMulBnb4", {x, weights, largest}, attributes(1, 1)),
              near({5.2313f, 19.6305f}));
}

TEST(MicrosoftImport, MatMulBnb4RefusesWhatDoesNotFit) {
  const auto x = floats({1, 2}, {1, 10}), largest = floats({1}, {1});
  const auto weights = int_tensor("", {2}, {0x3d, 0x5f}, TensorProto::UINT8);
  const auto reason = [&](int block, int type) {
    return refusal("MatMulBnb4", {x, weights, largest},
                   {{"K", 2}, {"N", 2}, {"block_size", block}, {"quant_type", type}});
  };
  EXPECT_THAT(reason(2, 0), HasSubstr("input 2 has shape [1]"));
  EXPECT_THAT(reason(0, 0), HasSubstr("block_size"));
  EXPECT_THAT(reason(4, 2), HasSubstr("quant_type 2"));
}

TEST(MicrosoftImport, PredecessorsOfTheStandard) {
  const auto x = floats({2}, {1, 2});
  EXPECT_THAT(compute("Pad", {x, int_tensor("", {2}, {1, 0}), floats({}, {9})}),
              ElementsAre(9, 1, 2));
  EXPECT_THAT(compute("Range", {floats({}, {1}), floats({}, {4})}), ElementsAre(1, 2, 3));
  EXPECT_THAT(compute("Range", {floats({}, {4}), floats({}, {1}), floats({}, {-2})}),
              ElementsAre(4, 2));
  const auto column = computed(model_of("ExpandDims", {x, integers({}, {-1})}, {}, 0));
  EXPECT_EQ(column.shape, (Dims{2, 1}));
  EXPECT_THAT(refusal("ExpandDims", {x, integers({}, {2})}, {}), HasSubstr("2"));
  EXPECT_THAT(refusal("ExpandDims", {x, integers({2}, {0, 1})}, {}), HasSubstr("one integer"));
}

// y[t] = x[t - 2] + 10 x[t - 1] + 100 x[t].
TEST(MicrosoftImport, CausalConvWithStateGoesOnFromItsState) {
  const auto x = floats({1, 1, 3}, {1, 2, 3}), weight = floats({1, 1, 3}, {1, 10, 100});
  const auto state = floats({1, 1, 2}, {8, 9});
  EXPECT_THAT(compute_as_written("CausalConvWithState", {x, weight}), ElementsAre(100, 210, 321));
  EXPECT_THAT(compute_as_written("CausalConvWithState", {x, weight}, {}, 1), ElementsAre(2, 3));
  EXPECT_THAT(compute_as_written("CausalConvWithState", {x, weight, kNone, state}),
              ElementsAre(198, 219, 321));
  const auto one = floats({1, 1, 1}, {1});
  EXPECT_THAT(compute_as_written("CausalConvWithState", {one, weight, kNone, state}, {}, 1),
              ElementsAre(9, 1));
  EXPECT_THAT(
      compute_as_written("CausalConvWithState", {x, floats({1, 1, 2}, {1, 10})}, {{"dilation", 2}}),
      ElementsAre(10, 20, 31));
  EXPECT_THAT(compute_as_written("CausalConvWithState", {one, floats({1, 1, 1}, {1})},
                                 {{"activation", "silu"}}),
              near({.73106f}));
}

TEST(MicrosoftImport, CausalConvWithStateRefusesWhatDoesNotFit) {
  const auto x = floats({1, 1, 3}, {1, 2, 3}), weight = floats({1, 1, 3}, {1, 10, 100});
  const auto reason = [](const std::vector<TensorProto>& operands, const Attributes& attributes) {
    return refusal("CausalConvWithState", operands, attributes);
  };
  EXPECT_THAT(reason({x, weight}, {{"activation", "sine"}}), HasSubstr("'sine'"));
  EXPECT_THAT(reason({x, weight}, {{"ndim", 2}}), HasSubstr("ndim"));
  EXPECT_THAT(reason({x, weight}, {{"dilation", 0}}), HasSubstr("dilation"));
  EXPECT_THAT(reason({x, x, x}, {}), HasSubstr("its bias [channels]"));
  EXPECT_THAT(reason({x, weight, kNone, x}, {}), HasSubstr("[1,1,2], not [1,1,3]"));
}

TEST(MicrosoftImport, DecoderMaskedAttentionRefusesWhatDoesNotFit) {
  const auto token = floats({1, 1, 2}, {1, 2}), past = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto reason = [&](const std::vector<TensorProto>& rest) {
    std::vector<TensorProto> operands = {token, token, token, kNone, kNone};
    operands.insert(operands.end(), rest.begin(), rest.end());
    return refusal("DecoderMaskedMultiHeadAttention", operands,
                   {{"num_heads", 1}, {"past_present_share_buffer", 1}});
  };
  EXPECT_THAT(reason({past}), HasSubstr("both keys and values"));
  EXPECT_THAT(reason({past, past}), HasSubstr("past_sequence_length is missing"));
  EXPECT_THAT(reason({past, past, integers({1}, {2})}), HasSubstr("less than the 2 positions"));
  EXPECT_THAT(reason({past, past, integers({1}, {0}), integers({1}, {4})}), HasSubstr("beams"));
}

// A search runs its decoder many times: a program has to do that.
TEST(MicrosoftImport, SearchesAreRefusedByName) {
  for (const char* search : {"BeamSearch", "GreedySearch", "Sampling"})
    EXPECT_THAT(refusal(search, {integers({1, 1}, {1})}, {}), HasSubstr(search));
}

TEST(MicrosoftImport, GatherBlockQuantizedRefusesWhatDoesNotFit) {
  const auto table = int_tensor("", {2, 2}, {1, 2, 3, 4}, TensorProto::UINT8);
  const auto rows = integers({1}, {0});
  const auto reason = [&](const TensorProto& scales, int axis, int block) {
    return refusal("GatherBlockQuantized", {table, rows, scales},
                   {{"quantize_axis", axis}, {"block_size", block}, {"bits", 4}});
  };
  EXPECT_THAT(reason(floats({2, 1}, {1, 1}), 0, 2), HasSubstr("along the last dimension"));
  EXPECT_THAT(reason(floats({2, 1}, {1, 1}), 1, 0), HasSubstr("block_size"));
  EXPECT_THAT(reason(floats({1, 1}, {1}), 1, 4), HasSubstr("input 2 has shape [1,1]"));
}

TEST(MicrosoftImport, RotaryEmbeddingRefusesHeadsThatDoNotFit) {
  const auto x = floats({1, 1, 6}, {1, 2, 3, 4, 5, 6}), table = floats({1, 2}, {1, 0});
  const auto position = int_tensor("", {1}, {0});
  EXPECT_THAT(refusal("RotaryEmbedding", {x, position, table, table}, {}), HasSubstr("heads"));
  EXPECT_THAT(refusal("RotaryEmbedding", {x, position, table, table}, {{"num_heads", 3}}),
              HasSubstr("do not fit heads of size 2"));
  const auto nothing = floats({1, 1, 0}, {});
  EXPECT_THAT(refusal("RotaryEmbedding", {nothing, position, table, table}, {}),
              HasSubstr("heads"));
}

TEST(MicrosoftImport, UnfoldTensorMovesWindowsToTheEnd) {
  const auto x = floats({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(compute("UnfoldTensor", {x}, {{"size", 2}}),
              ElementsAre(0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6, 7));
  EXPECT_THAT(compute("UnfoldTensor", {x}, {{"size", 2}, {"step", 2}}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(compute("UnfoldTensor", {x}, {{"dim", 0}, {"size", 2}}),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  for (const Attributes& attributes :
       {Attributes{}, {{"size", 5}}, {{"size", 2}, {"step", 0}}, {{"dim", -2}, {"size", 3}}})
    EXPECT_THAT(refusal("UnfoldTensor", {x}, attributes), HasSubstr("not within a dimension"));
}

TEST(MicrosoftImport, MatMulInteger16HasSumsOf32Bits) {
  const auto words = [](const Dims& dims, const Dims& elements) {
    return int_tensor("", dims, elements, TensorProto::INT16);
  };
  EXPECT_THAT(
      compute("MatMulInteger16", {words({1, 2}, {30000, -2}), words({2, 2}, {30000, 1, 5, -5})}),
      ElementsAre(899999990, 30010));
  EXPECT_THAT(refusal("MatMulInteger16", {words({1, 1}, {1}), integers({1, 1}, {1})}, {}),
              HasSubstr("must be INT16"));
}

TEST(MicrosoftImport, GroupQueryAttentionRefusesWhatDoesNotFit) {
  const auto query = floats({2, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
             key = floats({2, 1, 2}, {1, 2, 3, 4});
  const auto past = floats({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto reason = [&](const std::vector<TensorProto>& rest, const Attributes& attributes) {
    std::vector<TensorProto> operands = {query, key, key};
    operands.insert(operands.end(), rest.begin(), rest.end());
    return refusal("GroupQueryAttention", operands, attributes);
  };
  const Attributes two = {{"num_heads", 2}, {"kv_num_heads", 1}};
  const auto total = [](int64_t length) { return integers({1}, {length}); };
  const auto lengths = integers({2}, {2, 2});
  EXPECT_THAT(reason({past, past, lengths, total(3)}, {{"num_heads", 3}, {"kv_num_heads", 2}}),
              HasSubstr("multiple of kv_num_heads"));
  EXPECT_THAT(reason({past, past, lengths, total(0)}, two),
              HasSubstr("total_sequence_length must be"));
  EXPECT_THAT(reason({past, past, lengths, total(9)}, two), HasSubstr("a length of at least 8"));
  EXPECT_THAT(reason({past, kNone, lengths, total(3)}, two), HasSubstr("are missing"));
  EXPECT_THAT(reason({past, past, integers({1}, {2}), total(3)}, two),
              HasSubstr("one element for each sequence"));
  EXPECT_THAT(reason({past, past, lengths, total(3), kNone, kNone, kNone, kNone, key}, two),
              HasSubstr("one element for each head"));
  EXPECT_THAT(reason({past, past, lengths}, two), HasSubstr("is missing"));
  EXPECT_THAT(reason({past, past, lengths, total(3)},
                     {{"num_heads", 2}, {"kv_num_heads", 1}, {"do_rotary", 1}}),
              HasSubstr("cosines"));
}

// One head of size 1, whose query and keys are 0, so that the result is the mean of the values that
// a query sees. `values` are those of the new tokens and `past` those of a buffer, of each
// sequence.
struct MeanOfValues {
  std::vector<Floats> values = {}, past = {};
  Dims lasts = {};
  int64_t total = 0;
  TensorProto bias = {};
  Attributes attributes = {};

  static TensorProto rows(const Dims& dims, const std::vector<Floats>& rows) {
    Floats elements;
    for (const Floats& row : rows) elements.insert(elements.end(), row.begin(), row.end());
    return floats(dims, elements);
  }
  std::vector<TensorProto> operands() const {
    const auto batch = static_cast<int64_t>(values.size());
    const auto length = static_cast<int64_t>(values[0].size());
    const auto zeros = floats({batch, length, 1}, Floats(static_cast<size_t>(batch * length)));
    std::vector<TensorProto> all = {zeros, zeros, rows({batch, length, 1}, values), kNone, kNone};
    if (!past.empty()) {
      const auto room = static_cast<int64_t>(past[0].size());
      const Dims dims = {batch, 1, room, 1};
      all[3] = floats(dims, Floats(static_cast<size_t>(batch * room)));
      all[4] = rows(dims, past);
    }
    all.push_back(integers({batch}, lasts));
    all.push_back(integers({1}, {total}));
    if (bias.has_data_type()) all.insert(all.end(), {kNone, kNone, kNone, bias});
    return all;
  }
  Attributes all_attributes() const {
    Attributes all = {{"num_heads", 1}, {"kv_num_heads", 1}};
    all.insert(all.end(), attributes.begin(), attributes.end());
    return all;
  }
  Floats output(size_t index) const {
    return compute("GroupQueryAttention", operands(), all_attributes(), index);
  }
  std::string reason() const {
    return refusal("GroupQueryAttention", operands(), all_attributes());
  }
};

TEST(MicrosoftImport, GroupQueryAttentionGoesOnFromPastsOfDifferentLengths) {
  const MeanOfValues ragged = {.values = {{5, 15}, {30, 50}},
                               .past = {{1, 99, 99}, {1, 3, 99}},
                               .lasts = {2, 3},
                               .total = 4};
  EXPECT_THAT(ragged.output(0), near({3, 7, 11.3333f, 21}));
  EXPECT_THAT(ragged.output(2), ElementsAre(1, 5, 15, 0, 1, 3, 30, 50));
  const MeanOfValues buffers = {
      .values = {{5}, {30}}, .past = {{1, 7, 8, 9}, {1, 2, 8, 9}}, .lasts = {1, 2}, .total = 3};
  EXPECT_THAT(buffers.output(0), near({3, 11}));
  EXPECT_THAT(buffers.output(2), ElementsAre(1, 5, 8, 9, 1, 2, 30, 9));
}

TEST(MicrosoftImport, GroupQueryAttentionTakesTheLengthOfASingleSequence) {
  const MeanOfValues single = {
      .values = {{10}}, .past = {{1, 2, 3, 4, 99, 99, 99, 99, 99}}, .lasts = {4}, .total = 9};
  EXPECT_THAT(single.output(0), near({4}));
  EXPECT_THAT(single.output(2), ElementsAre(1, 2, 3, 4, 10, 99, 99, 99, 99));
}

TEST(MicrosoftImport, GroupQueryAttentionReadsNothingAfterTheSequence) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const MeanOfValues single = {
      .values = {{10}}, .past = {{1, 2, 3, 4, 5, kNaN, kNaN}}, .lasts = {4}, .total = 7};
  EXPECT_THAT(single.output(0), near({4}));
}

TEST(MicrosoftImport, GroupQueryAttentionWithoutCausalityEndsWithTheSequence) {
  MeanOfValues prompt = {.values = {{1, 2, 3, 4}, {10, 30, 99, 99}},
                         .lasts = {3, 1},
                         .total = 4,
                         .attributes = {{"causal", 0}}};
  EXPECT_THAT(prompt.output(0), near({2.5f, 2.5f, 2.5f, 2.5f, 20, 20, 20, 20}));
  const MeanOfValues next = {.values = {{5, 15}, {30, 50}},
                             .past = {{1, 99}, {1, 3}},
                             .lasts = {2, 3},
                             .total = 4,
                             .attributes = {{"causal", 0}}};
  EXPECT_THAT(next.output(0), near({7, 7, 21, 21}));
  prompt.attributes.push_back({"local_window_size", 2});
  EXPECT_THAT(prompt.reason(), HasSubstr("causal is 0 with a window"));
}

// The mask of a padded key may be the lowest value, or infinite.
TEST(MicrosoftImport, GroupQueryAttentionNeverSeesLaterKeys) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  MeanOfValues prompt = {.values = {{1, 3}},
                         .lasts = {1},
                         .total = 2,
                         .bias = floats({1, 1, 2, 2}, {kLowest, 0, kLowest, 0})};
  EXPECT_THAT(prompt.output(0), near({1, 3}));
  const MeanOfValues next = {.values = {{5, 15}, {30, 50}},
                             .past = {{1, 99}, {1, 3}},
                             .lasts = {2, 3},
                             .total = 4,
                             .bias = floats({1, 1, 2, 4}, {kLowest, kLowest, kLowest, 0,  //
                                                           0, 0, 0, 0})};
  EXPECT_THAT(next.output(0), near({3, 7, 11.3333f, 21}));
  prompt.attributes = {{"local_window_size", 0}};
  EXPECT_THAT(prompt.reason(), HasSubstr("local_window_size is 0"));
}

// Tokens beside the cache would be dropped, and those after the total length not be seen.
TEST(MicrosoftImport, GroupQueryAttentionRefusesTokensOutsideTheCache) {
  const auto reason = [](const Dims& lasts) {
    return MeanOfValues{
        .values = {{5}, {30}}, .past = {{1, 2, 3, 4}, {1, 2, 3, 4}}, .lasts = lasts, .total = 3}
        .reason();
  };
  EXPECT_THAT(reason({20, 2}), HasSubstr("of batch entry 0 is outside a cache of length 4"));
  EXPECT_THAT(reason({2, 3}), HasSubstr("of batch entry 1 is outside a cache of length 4"));
  EXPECT_THAT(reason({2, -1}), HasSubstr("of batch entry 1 is outside a cache of length 4"));
}

// The names of the operators in which a GroupQueryAttention of one token over buffers of 9 keys
// becomes, where the length of the sequence is an input.
Names operators_over_buffers(const Attributes& more, const Names& outputs) {
  Model model(17);
  model.domain("com.microsoft", 1)
      .input("q", {1, 1, 4})
      .input("k", {1, 1, 2})
      .input("v", {1, 1, 2});
  model.input("past_k", {1, 1, 9, 2}).input("past_v", {1, 1, 9, 2});
  model.input("last", {1}, TensorProto::INT32);
  model.constant(int_tensor("total", {1}, {9}, TensorProto::INT32));
  Attributes attributes = {{"num_heads", 2}, {"kv_num_heads", 1}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  model.node("GroupQueryAttention", {"q", "k", "v", "past_k", "past_v", "last", "total"}, outputs,
             attributes);
  model.proto.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  for (const std::string& output : outputs) model.output(output);
  Names names;
  for (const graph::Node& node : import_valid(model).nodes) {
    const auto* fallback = std::get_if<graph::Fallback>(&node.op);
    names.push_back(fallback != nullptr ? fallback->name : graph::name_of(node.op));
  }
  return names;
}

// The keys and values are written to their buffers and read there: nothing else has their size.
TEST(MicrosoftImport, GroupQueryAttentionReadsBuffersWhereTheyLie) {
  for (const Attributes& more :
       {Attributes{}, {{"local_window_size", 4}}, {{"smooth_softmax", 1}}, {{"causal", 0}}}) {
    const Names names = operators_over_buffers(more, {"y", "present_k", "present_v"});
    EXPECT_EQ(std::ranges::count(names, "TensorScatter"), 2);
    EXPECT_EQ(std::ranges::count(names, "millrace.CachedAttention"), 1);
    EXPECT_EQ(std::ranges::count(names, "Slice"), 0);
    EXPECT_EQ(std::ranges::count(names, "Softmax"), 0);
  }
  const Names capped = operators_over_buffers({{"softcap", 2.0}}, {"y", "present_k", "present_v"});
  EXPECT_EQ(std::ranges::count(capped, "millrace.CachedAttention"), 0);
  EXPECT_EQ(std::ranges::count(capped, "Softmax"), 1);
}

// Computed by hand: means 1 and 3 of two groups of one channel, and deviations of 1.
TEST(MicrosoftImport, GroupNormHasItsChannelsLast) {
  const auto x = floats({1, 1, 2, 2}, {0, 2, 2, 4}), scale = floats({2}, {1, 10}),
             bias = floats({2}, {0, 100});
  const Attributes groups = {{"groups", 2}, {"epsilon", 0.0}, {"activation", 0}};
  EXPECT_THAT(compute("GroupNorm", {x, scale, bias}, groups), near({-1, 90, 1, 110}));
  EXPECT_THAT(compute("GroupNorm", {x, scale, bias}, {{"groups", 2}, {"activation", 1}}),
              near({-.26894f, 90, .73106f, 110}));
  const auto rows = floats({1, 2, 1, 2}, {0, 2, 2, 4});
  EXPECT_THAT(compute("GroupNorm", {rows, scale, bias}, {{"groups", 2}, {"channels_last", 0}}),
              near({-1, 1, 90, 110}));
}

TEST(MicrosoftImport, QAttentionIsAttentionOfAProjection) {
  const auto x = int_tensor("", {1, 2, 2}, {12, 14, 10, 8}, TensorProto::UINT8);
  const auto weights =
      int_tensor("", {2, 6}, {2, 0, 2, 0, 2, 0, 0, 2, 0, 2, 0, 2}, TensorProto::INT8);
  const auto half = floats({}, {.5f}), ten = int_tensor("", {}, {10}, TensorProto::UINT8);
  const auto bias = floats({6}, {0, 0, 0, 0, 1, 0});
  const auto operators =
      operators_of("QAttention", {x, weights, bias, half, half, kNone, ten}, {{"num_heads", 1}});
  EXPECT_EQ(std::ranges::count(operators, "Softmax"), 1);
}

// One step of one unit whose gates see 2 x: o = i = sigmoid(2), c = i tanh(2), h = o tanh(c).
TEST(MicrosoftImport, DynamicQuantizeLSTM) {
  const auto x = floats({1, 1, 1}, {1});
  const auto weights = int_tensor("", {1, 1, 4}, {14, 14, 14, 14}, TensorProto::UINT8);
  const auto recurrence = int_tensor("", {1, 1, 4}, {0, 0, 0, 0}, TensorProto::UINT8);
  const auto half = floats({1}, {.5f}), ten = int_tensor("", {1}, {10}, TensorProto::UINT8),
             zero = int_tensor("", {1}, {0}, TensorProto::UINT8);
  EXPECT_THAT(
      compute("DynamicQuantizeLSTM",
              {x, weights, recurrence, kNone, kNone, kNone, kNone, kNone, half, ten, half, zero},
              {{"hidden_size", 1}}, 1),
      near({0.608f}));
}

}  // namespace
}  // namespace millrace::compiler::test
