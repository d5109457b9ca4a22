#include <limits>

#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kAttention = "millrace.Attention";

// Two sequences of six, four heads of eight numbers.
class RecogniseAttention : public ::testing::Test {
 protected:
  Graph recognised(ValueId y, const PassContext& context = {}) {
    maker.output(y);
    return run_pass(recognise_attention, run_pass(canonicalise_arithmetic, maker.graph), context);
  }
  // [2, 4, 6, 8] in the order of the dimensions.
  ValueId heads(Dims permutation = {0, 2, 1, 3}) {
    const ValueId projected = maker.input({2, 6, 32});
    const ValueId apart = maker.add(graph::Reshape{{2, 6, 4, 8}}, {projected});
    return maker.add(graph::Transpose{std::move(permutation)}, {apart});
  }
  ValueId product(ValueId a, ValueId b) { return maker.add(MatMul{}, {a, b}); }
  ValueId times(ValueId x, float factor) {
    return maker.binary(BinaryKind::kMul, x, maker.number(factor));
  }
  ValueId softmax(ValueId x, int64_t axis = 3) {
    return maker.add(graph::Softmax{axis, false}, {x});
  }

  GraphMaker maker;
  ValueId query = heads(), keys = heads({0, 2, 3, 1}), values = heads();
};

std::vector<graph::Attribute> attributes_of(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (const auto* op = std::get_if<graph::Fallback>(&node.op)) return op->attributes;
  return {};
}

TEST_F(RecogniseAttention, AsPyTorchExportsIt) {
  const ValueId scores = maker.binary(BinaryKind::kDiv, product(query, keys), maker.number(4));
  const ValueId masked = maker.binary(BinaryKind::kAdd, scores, maker.input({2, 1, 1, 6}));
  const ValueId joined =
      maker.add(graph::Transpose{{0, 2, 1, 3}}, {product(softmax(masked), values)});
  const Graph after = recognised(joined);
  // The Transpose of the keys has become that of the others.
  EXPECT_THAT(operators_of(after), ElementsAre("Reshape", "Transpose", "Reshape", "Reshape",
                                               "Transpose", "Transpose", kAttention, "Transpose"));
  EXPECT_THAT(attributes_of(after), ElementsAre(graph::Attribute{"scale", 0.25f}));
}

TEST_F(RecogniseAttention, AsTensorFlowExportsIt) {
  MatMul by_rows;
  by_rows.transpose_b = true;
  by_rows.alpha = 0.5f;
  const ValueId scores = maker.add(by_rows, {query, heads()});
  const ValueId masked = maker.binary(BinaryKind::kAdd, maker.random({6, 6}), scores);
  const Graph after = recognised(product(softmax(masked), values));
  EXPECT_THAT(operators_of(after), Contains(kAttention));
  EXPECT_THAT(operators_of(after), Not(Contains("Softmax")));
  EXPECT_THAT(attributes_of(after), ElementsAre(graph::Attribute{"scale", 0.5f}));
}

TEST_F(RecogniseAttention, QueryAndKeysMayBeScaledEach) {
  const Graph after =
      recognised(product(softmax(product(times(query, 0.5f), times(keys, 0.25f))), values));
  EXPECT_THAT(operators_of(after), Contains(kAttention));
  EXPECT_THAT(attributes_of(after), ElementsAre(graph::Attribute{"scale", 0.125f}));
}

TEST_F(RecogniseAttention, KeysThatNoTransposeMakesGetOne) {
  const ValueId made = maker.input({2, 4, 8, 6});
  const Graph after = recognised(product(softmax(product(query, made)), values));
  EXPECT_THAT(operators_of(after), Contains(kAttention));
}

TEST_F(RecogniseAttention, TermsThatAllHeadsShareBecomeOne) {
  const auto with_two_terms = [&](Dims first) {
    const ValueId once =
        maker.binary(BinaryKind::kAdd, product(query, keys), maker.input(std::move(first)));
    const ValueId twice = maker.binary(BinaryKind::kAdd, maker.input({2, 1, 1, 6}), once);
    return recognised(product(softmax(twice), values));
  };
  const Graph shared = with_two_terms({6, 6});
  EXPECT_THAT(operators_of(shared), Contains(kAttention));
  EXPECT_EQ(shared.values[shared.nodes.back().inputs[3]].shape, (Dims{2, 1, 6, 6}));
  // Adding these terms is as much work as with the scores themselves.
  EXPECT_THAT(operators_of(with_two_terms({4, 6, 6})), Contains("Softmax"));
}

class RecogniseMask : public RecogniseAttention {
 protected:
  // A mask as the caller gives it.
  ValueId given_mask(Dims shape) {
    const ValueId id = maker.input(std::move(shape));
    maker.graph.values[id].type = tensor::DataType::kBoolean;
    return id;
  }
  ValueId constant_mask(Dims shape, const std::vector<uint8_t>& elements) {
    return maker.graph.add_constant("mask", tensor::DataType::kBoolean, std::move(shape),
                                    graph::Constant::of(elements));
  }
  // A Where between scores and a number.
  ValueId where(ValueId mask, ValueId a, ValueId b) {
    graph::Value chosen = maker.graph.values[maker.graph.values[a].shape.empty() ? b : a];
    chosen.name = "chosen " + chosen.name;
    const ValueId id = maker.graph.add_value(std::move(chosen));
    maker.graph.nodes.push_back({"choice", graph::Fallback{"Where", {}}, {mask, a, b}, {id}});
    return id;
  }
};

TEST_F(RecogniseMask, KeepsScoresOrLeavesThemOut) {
  const ValueId kept = where(given_mask({2, 1, 1, 6}), product(query, keys), maker.number(-1e38f));
  EXPECT_THAT(operators_of(recognised(product(softmax(kept), values))), Contains(kAttention));
  const ValueId left_out =
      where(given_mask({2, 1, 1, 6}), maker.number(-3.4e38f), product(query, keys));
  EXPECT_THAT(operators_of(recognised(product(softmax(left_out), values))), Contains(kAttention));
}

// -10,000 is not so far below every score that a row without a key would be the same.
TEST_F(RecogniseMask, WithAModerateNumberLeavesEveryRowAKey) {
  const auto masked = [&](const std::vector<uint8_t>& last_row) {
    std::vector<uint8_t> causal(36, 1);
    std::ranges::copy(last_row, causal.end() - 6);
    return product(
        softmax(where(constant_mask({6, 6}, causal), product(query, keys), maker.number(-1e4f))),
        values);
  };
  EXPECT_THAT(operators_of(recognised(masked({1, 0, 0, 0, 0, 0}))), Contains(kAttention));
  EXPECT_THAT(operators_of(recognised(masked({0, 0, 0, 0, 0, 0}))), Contains("Where"));
  const ValueId unknown =
      where(given_mask({2, 1, 1, 6}), product(query, keys), maker.number(-1e4f));
  EXPECT_THAT(operators_of(recognised(product(softmax(unknown), values))), Contains("Softmax"));
}

// The number of attentions in all that the test has made so far.
ptrdiff_t attentions_of(const Graph& graph) {
  return std::ranges::count(operators_of(graph), kAttention);
}

// The rows of keys that both leave out would be -inf, instead of the number that both put there.
TEST_F(RecogniseMask, WithAFiniteNumberReplacesOtherTerms) {
  const auto masked = [&](ValueId scores, float number) {
    const ValueId kept = where(given_mask({2, 1, 1, 6}), scores, maker.number(number));
    return attentions_of(recognised(product(softmax(kept), values)));
  };
  const auto twice = [&](float number) {
    return where(given_mask({6, 6}), product(query, keys), maker.number(number));
  };
  const auto with_bias = [&] {
    return maker.binary(BinaryKind::kAdd, product(query, keys), maker.input({6, 6}));
  };
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  constexpr float kInfinite = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(masked(twice(kLowest), kLowest), 0);
  EXPECT_EQ(masked(with_bias(), kLowest), 0);
  EXPECT_EQ(masked(twice(kLowest), kInfinite), 1);
  EXPECT_EQ(masked(with_bias(), kInfinite), 2);
}

// The sum may leave out, by as much, the only key that the mask keeps.
TEST_F(RecogniseMask, WithAModerateNumberIsTheLastTerm) {
  std::vector<uint8_t> causal(36, 0);
  for (size_t row = 0; row < 6; ++row) std::fill_n(causal.begin() + row * 6, row + 1, 1);
  const auto padded = [&](float number) {
    const ValueId kept =
        where(constant_mask({6, 6}, causal), product(query, keys), maker.number(number));
    const ValueId sum = maker.binary(BinaryKind::kAdd, kept, maker.input({2, 1, 1, 6}));
    return attentions_of(recognised(product(softmax(sum), values)));
  };
  EXPECT_EQ(padded(-1e4f), 0);
  EXPECT_EQ(padded(-1e38f), 1);
}

TEST_F(RecogniseAttention, WithoutHeads) {
  const ValueId x = maker.input({3, 5, 8});
  const ValueId turned = maker.add(graph::Transpose{{0, 2, 1}}, {x});
  const Graph after = recognised(product(softmax(product(x, turned), 2), x));
  EXPECT_THAT(operators_of(after), ElementsAre(kAttention));
}

TEST_F(RecogniseAttention, NamesOfItsPartsMeanIt) {
  const ValueId y = product(softmax(product(query, keys)), values);
  for (Node& node : maker.graph.nodes)
    if (std::holds_alternative<graph::Softmax>(node.op)) node.origins = {{"weigh", "Softmax"}};
  const Graph after = recognised(y);
  EXPECT_THAT(matching_names(after.nodes.back(), {"weigh"}), ElementsAre("weigh"));
}

TEST_F(RecogniseAttention, LeavesWhatIsNamedToBeComputedElsewhere) {
  const ValueId y = product(softmax(product(query, keys)), values);
  PassContext on_cpu;
  on_cpu.cpu_operators = {"Softmax"};
  EXPECT_THAT(operators_of(recognised(y, on_cpu)), Contains("Softmax"));
}

TEST_F(RecogniseAttention, AScaleOfTheQueryMayBeNamed) {
  const ValueId y = product(softmax(product(times(query, 0.5f), keys)), values);
  for (Node& node : maker.graph.nodes)
    if (std::holds_alternative<graph::Binary>(node.op)) node.origins = {{"scale", "Mul"}};
  PassContext on_cpu;
  on_cpu.cpu_operators = {"scale"};
  EXPECT_THAT(operators_of(recognised(y, on_cpu)), Contains("Softmax"));
}

TEST_F(RecogniseAttention, LeavesThePartsWhereTheyAreWanted) {
  const ValueId y = product(softmax(product(query, keys)), values);
  PassContext in_parts, bf16;
  in_parts.attention_in_parts = true;
  bf16.precision = graph::Precision::kBf16;
  maker.output(y);
  for (const PassContext& context : {in_parts, bf16})
    EXPECT_THAT(operators_of(run_pass(recognise_attention, maker.graph, context)),
                Contains("Softmax"));
}

TEST_F(RecogniseAttention, LeavesLookAlikes) {
  const auto expect_left = [&](ValueId y) {
    const Graph after = recognised(y);
    EXPECT_THAT(attributes_of(after), IsEmpty());
  };
  const ValueId scores = product(query, keys);
  expect_left(product(softmax(scores, 2), values));
  // Broadcast keys.
  expect_left(product(softmax(product(query, maker.input({8, 6}))), values));
  const ValueId read_twice = softmax(product(query, keys));
  maker.output(read_twice);
  expect_left(product(read_twice, values));
  // A sum that has more dimensions than the scores.
  const ValueId wide =
      maker.binary(BinaryKind::kAdd, product(query, keys), maker.input({3, 1, 1, 1, 1}));
  expect_left(product(softmax(wide, 4), values));
}

}  // namespace
}  // namespace millrace::lowering
