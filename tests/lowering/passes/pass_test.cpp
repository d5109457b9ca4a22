#include "tests/lowering/passes/pass_test.h"

#include <cmath>

#include "tests/lowering/passes/interpreter.h"

namespace millrace::lowering {
namespace {

void expect_same_results(const Graph& before, const Graph& after) {
  const auto expected = interpret(before), actual = interpret(after);
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  ASSERT_TRUE(actual.ok()) << actual.status().to_string();
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t i = 0; i < expected->size(); ++i) {
    float largest = 1e-3f;
    for (float x : (*expected)[i]) largest = std::max(largest, std::abs(x));
    EXPECT_THAT((*actual)[i],
                ::testing::Pointwise(::testing::FloatNear(1e-5f * largest), (*expected)[i]));
  }
}

void expect_same_boundary(const Graph& before, const Graph& after) {
  ASSERT_EQ(after.inputs.size(), before.inputs.size());
  ASSERT_EQ(after.outputs.size(), before.outputs.size());
  const auto expect_same_value = [&](ValueId was, ValueId is) {
    EXPECT_EQ(after.values[is].name, before.values[was].name);
    EXPECT_EQ(after.values[is].type, before.values[was].type);
    EXPECT_EQ(after.values[is].shape, before.values[was].shape);
  };
  for (size_t i = 0; i < before.inputs.size(); ++i) {
    expect_same_value(before.inputs[i], after.inputs[i]);
  }
  for (size_t i = 0; i < before.outputs.size(); ++i) {
    expect_same_value(before.outputs[i], after.outputs[i]);
  }
}

}  // namespace

Graph run_pass(PassFunction pass, const Graph& before, const PassContext& context) {
  EXPECT_TRUE(graph::validate(before).ok()) << graph::validate(before).to_string();
  Graph after = before;
  EXPECT_TRUE(pass(after, context).ok());
  EXPECT_TRUE(graph::validate(after).ok()) << graph::validate(after).to_string();
  EXPECT_TRUE(eliminate_dead_code(after, context).ok());
  EXPECT_TRUE(graph::validate(after).ok()) << graph::validate(after).to_string();
  expect_same_boundary(before, after);
  expect_same_results(before, after);
  return after;
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (const auto* unary = std::get_if<Unary>(&node.op)) {
      names.emplace_back(graph::name_of(unary->function.kind));
    } else if (const auto* binary = std::get_if<Binary>(&node.op)) {
      names.emplace_back(graph::name_of(binary->kind));
    } else {
      names.emplace_back(graph::name_of(node.op));
    }
  }
  return names;
}

}  // namespace millrace::lowering
