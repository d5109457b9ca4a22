// Attention and RotaryEmbedding of the standard, beside plain loops that follow their documents.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "tests/compiler/onnx_builder.h"
#include "tests/lowering/passes/interpreter.h"

namespace millrace::compiler::test {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A tensor of rank 4; smaller ranks have leading dimensions of 1.
struct Block {
  Dims dims = {};
  Floats elements = {};

  // Dimensions of 1 are broadcast.
  float at(const std::array<int64_t, 4>& index) const {
    size_t position = 0;
    for (size_t d = 0; d < 4; ++d)
      position = position * static_cast<size_t>(dims[d]) +
                 static_cast<size_t>(dims[d] == 1 ? 0 : index[d]);
    return elements[position];
  }
};

// Small numbers that differ from element to element.
Block numbers(Dims dims, int seed) {
  Block block{std::move(dims), {}};
  int64_t count = 1;
  for (const int64_t dim : block.dims) count *= dim;
  for (int64_t i = 0; i < count; ++i)
    block.elements.push_back(std::sin(static_cast<float>(i * 7 + seed * 31) * 0.37f));
  return block;
}

// The variant of an Attention. Keys and values of the past are its first ones.
struct Variant {
  Block query, key, value;
  int64_t past = 0;
  std::optional<Block> mask = {};  // of numbers, as long as the keys
  bool is_causal = false;
  std::optional<float> scale = {};
  float cap = 0;
  std::optional<Dims> lengths = {};
};

struct Stages {
  Floats result, products, capped, masked, weights;
};

bool is_in_sight(const Variant& variant, int64_t batch, int64_t query, int64_t key) {
  const int64_t queries = variant.query.dims[2];
  const int64_t length =
      variant.lengths ? (*variant.lengths)[static_cast<size_t>(batch)] : variant.key.dims[2];
  const int64_t first = variant.lengths ? length - queries : variant.past;
  return key < length && (!variant.is_causal || key <= first + query);
}

// The scores of a query, stage by stage, and its result.
void add_row(const Variant& variant, int64_t batch, int64_t head, int64_t query, Stages* stages) {
  const int64_t keys = variant.key.dims[2], depth = variant.key.dims[3];
  const int64_t group = head / (variant.query.dims[1] / variant.key.dims[1]);
  const float scale = variant.scale.value_or(1 / std::sqrt(static_cast<float>(depth)));
  Floats scores;
  float most = -kInfinity, sum = 0;
  for (int64_t key = 0; key < keys; ++key) {
    float score = 0;
    for (int64_t i = 0; i < depth; ++i)
      score += variant.query.at({batch, head, query, i}) * variant.key.at({batch, group, key, i});
    score *= scale;
    stages->products.push_back(score);
    if (variant.cap > 0) score = variant.cap * std::tanh(score / variant.cap);
    stages->capped.push_back(score);
    if (variant.mask) score += variant.mask->at({batch, head, query, key});
    if (!is_in_sight(variant, batch, query, key)) score = -kInfinity;
    stages->masked.push_back(score);
    scores.push_back(score);
    most = std::max(most, score);
  }
  for (float& score : scores) {
    score = most == -kInfinity ? 0 : std::exp(score - most);
    sum += score;
  }
  for (float& score : scores) score = sum == 0 ? 0 : score / sum;
  stages->weights.insert(stages->weights.end(), scores.begin(), scores.end());
  for (int64_t i = 0; i < variant.value.dims[3]; ++i) {
    float element = 0;
    for (int64_t key = 0; key < keys; ++key)
      element += scores[static_cast<size_t>(key)] * variant.value.at({batch, group, key, i});
    stages->result.push_back(element);
  }
}

Stages expected(const Variant& variant) {
  Stages stages;
  for (int64_t batch = 0; batch < variant.query.dims[0]; ++batch)
    for (int64_t head = 0; head < variant.query.dims[1]; ++head)
      for (int64_t query = 0; query < variant.query.dims[2]; ++query)
        add_row(variant, batch, head, query, &stages);
  return stages;
}

// The positions [begin, end) of keys or values.
Block part_of(const Block& block, int64_t begin, int64_t end) {
  Block part{block.dims, {}};
  part.dims[2] = end - begin;
  for (int64_t b = 0; b < block.dims[0]; ++b)
    for (int64_t h = 0; h < block.dims[1]; ++h)
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < block.dims[3]; ++j) part.elements.push_back(block.at({b, h, i, j}));
  return part;
}

// [batch, heads, length, size] as [batch, length, heads * size].
Block joined(const Block& block) {
  const Dims& d = block.dims;
  Block result{{d[0], d[2], d[1] * d[3]}, {}};
  for (int64_t b = 0; b < d[0]; ++b)
    for (int64_t i = 0; i < d[2]; ++i)
      for (int64_t h = 0; h < d[1]; ++h)
        for (int64_t j = 0; j < d[3]; ++j) result.elements.push_back(block.at({b, h, i, j}));
  return result;
}

// A node over inputs that a test adds as constants, and the input that every model needs.
class NodeModel {
 public:
  explicit NodeModel(int opset) : model_(opset) {}

  void add(const Block& block) { add(tensor(next(), block.dims, block.elements)); }
  void add(TensorProto proto) {
    model_.constant(std::move(proto));
    operands_.push_back(name());
  }
  void leave_out() { operands_.emplace_back(); }
  std::string next() const { return "operand" + std::to_string(operands_.size()); }

  // The model whose output is output number `output` of the node.
  Model finish(const std::string& type, const Attributes& attributes, size_t output) {
    Names outputs;
    for (size_t i = 0; i <= output; ++i)
      outputs.push_back(i == output ? "y" : "output" + std::to_string(i));
    model_.node(type, operands_, outputs, attributes);
    return model_.input("unused", {1}).output("y");
  }

 private:
  std::string name() const { return model_.proto.graph().initializer().rbegin()->name(); }

  Model model_;
  Names operands_;
};

Floats computed_by(const Model& model) {
  const auto results = lowering::interpret(import_valid(model));
  EXPECT_TRUE(results.ok()) << results.status().to_string();
  return results.ok() ? (*results)[0] : Floats();
}

Attributes attributes_of(const Variant& variant, bool joins_heads, int mode) {
  Attributes attributes = {{"qk_matmul_output_mode", mode},
                           {"is_causal", variant.is_causal ? 1 : 0},
                           {"softcap", static_cast<double>(variant.cap)}};
  if (variant.scale) attributes.push_back({"scale", static_cast<double>(*variant.scale)});
  if (!joins_heads) return attributes;
  attributes.push_back({"q_num_heads", static_cast<int>(variant.query.dims[1])});
  attributes.push_back({"kv_num_heads", static_cast<int>(variant.key.dims[1])});
  return attributes;
}

Model model_of(const Variant& variant, bool joins_heads, size_t output, int mode = 0) {
  NodeModel model(24);
  const int64_t keys = variant.key.dims[2];
  for (const Block& block : {variant.query, part_of(variant.key, variant.past, keys),
                             part_of(variant.value, variant.past, variant.value.dims[2])})
    model.add(joins_heads ? joined(block) : block);
  if (variant.mask)
    model.add(*variant.mask);
  else
    model.leave_out();
  for (const Block* block : {&variant.key, &variant.value})
    if (variant.past > 0)
      model.add(part_of(*block, 0, variant.past));
    else
      model.leave_out();
  if (variant.lengths)
    model.add(int_tensor(model.next(), {static_cast<int64_t>(variant.lengths->size())},
                         *variant.lengths));
  return model.finish("Attention", attributes_of(variant, joins_heads, mode), output);
}

auto near(const Floats& elements) {
  return Pointwise(FloatNear(2e-5f), elements);
}

// Infinities are not near each other.
Floats bounded(Floats elements) {
  for (float& element : elements) element = std::max(element, -9.0f);
  return elements;
}

void expect_all(const Variant& variant) {
  const Stages stages = expected(variant);
  EXPECT_THAT(computed_by(model_of(variant, false, 0)), near(stages.result));
  Block whole{variant.query.dims, stages.result};
  whole.dims[3] = variant.value.dims[3];
  EXPECT_THAT(computed_by(model_of(variant, true, 0)), near(joined(whole).elements));
  EXPECT_THAT(computed_by(model_of(variant, true, 1)), near(variant.key.elements));
  EXPECT_THAT(computed_by(model_of(variant, false, 2)), near(variant.value.elements));
  EXPECT_THAT(computed_by(model_of(variant, false, 3, 0)), near(stages.products));
  EXPECT_THAT(computed_by(model_of(variant, false, 3, 1)), near(stages.capped));
  EXPECT_THAT(bounded(computed_by(model_of(variant, false, 3, 2))), near(bounded(stages.masked)));
  EXPECT_THAT(computed_by(model_of(variant, true, 3, 3)), near(stages.weights));
}

// Two sequences, four query heads for two key heads, three queries and five keys.
Variant grouped() {
  return {numbers({2, 4, 3, 4}, 1), numbers({2, 2, 5, 4}, 2), numbers({2, 2, 5, 6}, 3)};
}

TEST(AttentionImport, GroupsOfQueryHeadsShareKeys) {
  expect_all(grouped());
  Variant scaled = grouped();
  scaled.scale = 0.3f;
  expect_all(scaled);
}

TEST(AttentionImport, EachHeadMayHaveItsOwnKeys) {
  expect_all({numbers({1, 2, 3, 4}, 1), numbers({1, 2, 3, 4}, 2), numbers({1, 2, 3, 4}, 3)});
}

TEST(AttentionImport, CausalityStartsAtTheFirstKeyOrBehindThePast) {
  for (const int64_t past : {0, 1, 2, 4}) {
    Variant variant = grouped();
    variant.is_causal = true;
    variant.past = past;
    expect_all(variant);
  }
}

TEST(AttentionImport, AMaskIsAddedAndMayExcludeAllKeys) {
  Variant variant = grouped();
  variant.mask = numbers({1, 1, 3, 5}, 4);
  expect_all(variant);
  variant.mask = numbers({2, 4, 3, 5}, 4);
  std::fill_n(variant.mask->elements.begin(), 5, -kInfinity);
  variant.mask->elements[7] = -kInfinity;
  variant.is_causal = true;
  expect_all(variant);
}

// Only -inf excludes a key from a row in which the other keys have the lowest finite value.
TEST(AttentionImport, LowestValuesOfAMaskAreNotInfinite) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  Variant variant = {Block{{1, 1, 2, 1}, {0, 0}}, Block{{1, 1, 3, 1}, {1, 2, 3}},
                     Block{{1, 1, 3, 1}, {10, 20, 60}}};
  variant.mask = Block{{1, 1, 2, 3}, {-kInfinity, kLowest, kLowest, kLowest, -kInfinity, 0}};
  EXPECT_THAT(computed_by(model_of(variant, false, 0)), near({40, 60}));
  NodeModel model(23);
  for (const Block* block : {&variant.query, &variant.key, &variant.value}) model.add(*block);
  model.add(Block{{2, 2}, {kLowest, kLowest, 0, kLowest}});
  EXPECT_THAT(computed_by(model.finish("Attention", {}, 0)), near({15, 10}));
}

TEST(AttentionImport, TheSoftCapComesBeforeTheMask) {
  Variant variant = grouped();
  variant.cap = 0.2f;
  variant.mask = numbers({1, 4, 1, 5}, 4);
  variant.mask->elements[2] = -kInfinity;
  expect_all(variant);
}

TEST(AttentionImport, LengthsEndSequencesThatArePadded) {
  Variant variant = grouped();
  variant.lengths = Dims{5, 2};
  expect_all(variant);
  // The queries are the last tokens: the first of the second sequence sees nothing.
  variant.is_causal = true;
  expect_all(variant);
  variant.lengths = Dims{0, 4};
  variant.mask = numbers({2, 1, 3, 5}, 4);
  expect_all(variant);
}

// A mask of truth values, over [1, 1, 2, 2] queries and three keys.
Model with_truths(const Dims& dims, const Dims& truths, int output, int mode = 0) {
  NodeModel model(23);
  model.add(numbers({1, 1, 2, 2}, 1));
  model.add(numbers({1, 1, 3, 2}, 2));
  model.add(numbers({1, 1, 3, 2}, 3));
  model.add(int_tensor(model.next(), dims, truths, TensorProto::BOOL));
  return model.finish("Attention", {{"qk_matmul_output_mode", mode}}, static_cast<size_t>(output));
}

TEST(AttentionImport, TruthValuesExcludeKeys) {
  Variant variant = {numbers({1, 1, 2, 2}, 1), numbers({1, 1, 3, 2}, 2), numbers({1, 1, 3, 2}, 3)};
  variant.mask = Block{{1, 1, 2, 3}, {0, -kInfinity, 0, -kInfinity, -kInfinity, -kInfinity}};
  const Stages stages = expected(variant);
  const Dims truths = {1, 0, 1, 0, 0, 0};
  EXPECT_THAT(computed_by(with_truths({2, 3}, truths, 0)), near(stages.result));
  EXPECT_THAT(computed_by(with_truths({1, 1, 2, 3}, truths, 3, 3)), near(stages.weights));
  EXPECT_THAT(bounded(computed_by(with_truths({1, 2, 3}, truths, 3, 2))),
              near(bounded(stages.masked)));
}

TEST(AttentionImport, AMaskThatIsTooShortExcludesTheLastKeys) {
  Variant variant = {numbers({1, 1, 2, 2}, 1), numbers({1, 1, 3, 2}, 2), numbers({1, 1, 3, 2}, 3)};
  variant.mask = Block{{1, 1, 2, 3}, {0, 0, -kInfinity, -kInfinity, 0, -kInfinity}};
  EXPECT_THAT(computed_by(with_truths({2, 2}, {1, 1, 0, 1}, 0)), near(expected(variant).result));
}

std::string refusal_of(const Model& model) {
  return import_failure(model).message();
}

TEST(AttentionImport, RefusesWhatDoesNotFit) {
  Variant variant = grouped();
  variant.mask = numbers({1, 1, 2, 5}, 4);
  EXPECT_THAT(refusal_of(model_of(variant, false, 0)), HasSubstr("a mask [1,1,2,5] does not fit"));
  variant = grouped();
  variant.query = numbers({2, 3, 3, 4}, 1);
  EXPECT_THAT(refusal_of(model_of(variant, false, 0)),
              HasSubstr("3 query heads cannot share 2 key heads"));
  variant = grouped();
  variant.value = numbers({2, 2, 4, 6}, 3);
  EXPECT_THAT(refusal_of(model_of(variant, false, 0)), HasSubstr("do not fit each other"));
  variant = grouped();
  variant.past = 1;
  variant.lengths = Dims{1, 1};
  EXPECT_THAT(refusal_of(model_of(variant, false, 0)), HasSubstr("both a past and lengths"));
  EXPECT_THAT(refusal_of(model_of(grouped(), false, 3, 4)), HasSubstr("qk_matmul_output_mode"));
}

// Attributes of later operator sets change the result, so they must not be ignored.
TEST(AttentionImport, RefusesAttributesThatItDoesNotKnow) {
  Model model = model_of(grouped(), false, 0);
  auto* attribute = model.proto.mutable_graph()->mutable_node(0)->add_attribute();
  attribute->set_name("window");
  attribute->set_type(::onnx::AttributeProto::INT);
  EXPECT_THAT(refusal_of(model), HasSubstr("its attribute 'window' is not supported"));
}

// Rotates pairs of each head of x, [batch, heads, length, size], by tables [batch, 1, length,
// half].
Block rotated(const Block& x, const Block& cos, const Block& sin, bool interleaved) {
  const int64_t half = cos.dims[3];
  Block result = x;
  size_t position = 0;
  for (int64_t b = 0; b < x.dims[0]; ++b)
    for (int64_t h = 0; h < x.dims[1]; ++h)
      for (int64_t i = 0; i < x.dims[2]; ++i)
        for (int64_t j = 0; j < x.dims[3]; ++j, ++position) {
          if (j >= 2 * half) continue;
          const int64_t pair = interleaved ? j / 2 : j % half;
          const bool is_first = interleaved ? j % 2 == 0 : j < half;
          const int64_t other =
              interleaved ? (is_first ? j + 1 : j - 1) : (is_first ? j + half : j - half);
          const float turn = x.at({b, h, i, other}) * sin.at({b, 0, i, pair});
          result.elements[position] =
              x.at({b, h, i, j}) * cos.at({b, 0, i, pair}) + (is_first ? -turn : turn);
        }
  return result;
}

TEST(RotaryEmbeddingImport, TurnsPairsOfHeads) {
  const Block x = numbers({2, 3, 2, 8}, 1);
  for (const int64_t half : {4, 3})
    for (const bool interleaved : {false, true}) {
      const Block cos = numbers({2, 1, 2, half}, 2), sin = numbers({2, 1, 2, half}, 3);
      const Block turned = rotated(x, cos, sin, interleaved);
      const Attributes attributes = {{"interleaved", interleaved ? 1 : 0},
                                     {"num_heads", 3},
                                     {"rotary_embedding_dim", static_cast<int>(2 * half)}};
      for (const bool joins : {false, true}) {
        NodeModel model(23);
        model.add(joins ? joined(x) : x);
        for (const Block* table : {&cos, &sin}) model.add(Block{{2, 2, half}, table->elements});
        EXPECT_THAT(computed_by(model.finish("RotaryEmbedding", attributes, 0)),
                    near(joins ? joined(turned).elements : turned.elements));
      }
    }
}

TEST(RotaryEmbeddingImport, LooksUpPositions) {
  const Block x = numbers({1, 2, 2, 4}, 1);
  const Floats cos = {0, 0, 1, 2, 0, 0, 3, 4}, sin = {0, 0, 5, 6, 0, 0, 7, 8};
  NodeModel model(23);
  model.add(x);
  model.add(Block{{4, 2}, cos});
  model.add(Block{{4, 2}, sin});
  model.add(int_tensor(model.next(), {1, 2}, {3, 1}));
  const Block chosen_cos = {{1, 1, 2, 2}, {3, 4, 1, 2}}, chosen_sin = {{1, 1, 2, 2}, {7, 8, 5, 6}};
  EXPECT_THAT(computed_by(model.finish("RotaryEmbedding", {}, 0)),
              near(rotated(x, chosen_cos, chosen_sin, false).elements));
}

TEST(RotaryEmbeddingImport, RefusesTablesThatDoNotFit) {
  const auto refusal = [](const Dims& table, const Attributes& attributes) {
    NodeModel model(23);
    model.add(numbers({1, 2, 2, 4}, 1));
    for (const int seed : {2, 3}) model.add(numbers(table, seed));
    return refusal_of(model.finish("RotaryEmbedding", attributes, 0));
  };
  EXPECT_THAT(refusal({2, 2}, {}), HasSubstr("its cosines rank 3"));
  EXPECT_THAT(refusal({1, 2, 3}, {}), HasSubstr("do not fit heads of size 4"));
  EXPECT_THAT(refusal({1, 2, 2}, {{"rotary_embedding_dim", 2}}), HasSubstr("are for 4"));
}

}  // namespace
}  // namespace millrace::compiler::test
