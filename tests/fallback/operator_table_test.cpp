// The table of fallback operators, and what is asked of every node.
#include "fallback/operator_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::absent;
using test::refusal;
using test::vector_of;
using ::testing::HasSubstr;

const test::Array kNumbers3 = vector_of<float>({1, 2, 3});

TEST(FallbackTable, NamesEachOperatorOnce) {
  std::set<std::string> names;
  for (const auto family : operator_families())
    for (const OperatorSpec& spec : family)
      EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
  EXPECT_GT(names.size(), 50u);
}

TEST(FallbackTable, FindsOperatorsByTheirFullName) {
  EXPECT_NE(find_operator("GatherND"), nullptr);
  EXPECT_NE(find_operator("com.microsoft.Gelu"), nullptr);
  EXPECT_EQ(find_operator("gathernd"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
}

TEST(FallbackTable, EveryRowIsComplete) {
  for (const auto family : operator_families()) {
    for (const OperatorSpec& spec : family) {
      EXPECT_NE(spec.shape, nullptr) << spec.name;
      EXPECT_NE(spec.kernel, nullptr) << spec.name;
      EXPECT_LE(spec.inputs.least, spec.inputs.most) << spec.name;
      EXPECT_LE(spec.outputs.least, spec.outputs.most) << spec.name;
      EXPECT_GE(spec.outputs.least, 1) << spec.name;
      EXPECT_TRUE(std::ranges::is_sorted(spec.attributes, {}, [](const AttributeSpec& attribute) {
        return std::string_view(attribute.name);
      })) << spec.name;
    }
  }
}

// A node of each operator that has optional outputs.
struct WithOptionalOutputs {
  const char* name;
  std::vector<test::Array> inputs;
  test::Attributes attributes = {};
};

test::Attributes one_leaf() {
  using Floats = std::vector<float>;
  return {{"class_ids", Dims{0}},          {"class_nodeids", Dims{0}},
          {"class_treeids", Dims{0}},      {"class_weights", Floats{1}},
          {"classlabels_int64s", Dims{5}}, {"nodes_falsenodeids", Dims{0}},
          {"nodes_featureids", Dims{0}},   {"nodes_modes", std::vector<std::string>{"LEAF"}},
          {"nodes_nodeids", Dims{0}},      {"nodes_treeids", Dims{0}},
          {"nodes_truenodeids", Dims{0}},  {"nodes_values", Floats{0}}};
}

test::Attributes linear_classes(bool by_vectors) {
  test::Attributes attributes = {{"classlabels_ints", Dims{3, 4}},
                                 {"coefficients", std::vector<float>{1, 2, 3, 4}}};
  if (by_vectors) attributes.push_back({"rho", std::vector<float>{1}});
  return attributes;
}

std::vector<WithOptionalOutputs> nodes_with_optional_outputs() {
  const auto x = test::array<float>({1, 1, 1}, {1});
  const auto weights = [](int64_t gates) {
    return test::array<float>({1, gates, 1}, std::vector<float>(static_cast<size_t>(gates), 1));
  };
  const auto scores = test::array<float>({1, 2}, {1, 2});
  const auto picture = test::array<float>({1, 1, 2, 1}, {1, 2});
  const auto one = vector_of<float>({1});
  return {{"BatchNormalization", {picture, one, one, one, one}, {{"training_mode", int64_t{1}}}},
          {"Dropout", {scores}},
          {"GRU", {x, weights(3), weights(3)}},
          {"LSTM", {x, weights(4), weights(4)}},
          {"LayerNormalization", {scores, vector_of<float>({1, 1})}},
          {"MaxPool", {picture}, {{"kernel_shape", Dims{1, 1}}}},
          {"RNN", {x, weights(1), weights(1)}},
          {"SimplifiedLayerNormalization", {scores, vector_of<float>({1, 1})}},
          {"SoftmaxCrossEntropyLoss", {scores, vector_of<int64_t>({1})}},
          {"TopK", {scores, vector_of<int64_t>({1})}},
          {"Unique", {scores}},
          {"ai.onnx.ml.LinearClassifier", {scores}, linear_classes(false)},
          {"ai.onnx.ml.SVMClassifier", {scores}, linear_classes(true)},
          {"ai.onnx.ml.TreeEnsembleClassifier", {scores}, one_leaf()},
          {"millrace.RoundedLSTM", {x, weights(4), weights(4)}}};
}

TEST(FallbackTable, EveryNumberOfOutputsCanBeComputed) {
  std::set<std::string> tried;
  for (const auto& [name, inputs, attributes] : nodes_with_optional_outputs()) {
    const Count outputs = find_operator(name)->outputs;
    const auto all = test::compute_all(name, inputs, attributes, outputs.most);
    for (size_t count = outputs.least; count <= outputs.most; ++count) {
      const auto some = test::compute_all(name, inputs, attributes, count);
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(some[i].bytes, all[i].bytes) << name;
    }
    tried.insert(name);
  }
  for (const auto family : operator_families())
    for (const OperatorSpec& spec : family)
      EXPECT_TRUE(spec.outputs.least == spec.outputs.most || tried.contains(spec.name))
          << spec.name << " is not in the list";
}

TEST(FallbackNode, HasEachAttributeOnceInOrder) {
  const auto x = vector_of<float>({1, 2});
  for (const test::Attributes& attributes : {test::Attributes{{"bias", 1.0f}, {"bias", 2.0f}},
                                             test::Attributes{{"lambd", 1.0f}, {"bias", 2.0f}}}) {
    EXPECT_THAT(refusal("Shrink", {x}, attributes).message(), HasSubstr("stands twice, or before"));
  }
}

TEST(FallbackNode, NeedsAKnownOperator) {
  const Status status = refusal("Nothing", {kNumbers3});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("Nothing"));
}

TEST(FallbackNode, NeedsTheNumberOfInputsAndOutputsThatBelong) {
  EXPECT_THAT(refusal("Add", {kNumbers3}).message(), HasSubstr("1 inputs; expected 2"));
  EXPECT_THAT(refusal("Tan", {kNumbers3, kNumbers3}).message(), HasSubstr("2 inputs; expected 1"));
  EXPECT_THAT(refusal("Sum", {}).message(), HasSubstr("0 inputs; expected 1 or more"));
  EXPECT_THAT(refusal("Tan", {kNumbers3}, {}, 2).message(), HasSubstr("2 outputs; expected 1"));
}

TEST(FallbackNode, NeedsItsRequiredInputs) {
  EXPECT_THAT(refusal("Add", {kNumbers3, absent()}).message(), HasSubstr("input 1 is missing"));
  EXPECT_THAT(refusal("Sum", {kNumbers3, absent()}).message(), HasSubstr("input 1 is missing"));
}

TEST(FallbackNode, RefusesAttributesThatItDoesNotKnow) {
  EXPECT_EQ(refusal("Tan", {kNumbers3}, {{"alpha", 1.0f}}).code(), StatusCode::kUnsupported);
  const Status status = refusal("Celu", {kNumbers3}, {{"alpha", int64_t{1}}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'alpha'"));
}

TEST(FallbackNode, NamesTypesWithoutAKernel) {
  const Status status = refusal("Tan", {vector_of<int64_t>({1})});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("Tan of INT64, only of FLOAT32"));
}

}  // namespace
}  // namespace millrace::fallback
