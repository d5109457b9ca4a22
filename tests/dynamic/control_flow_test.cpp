// If, Loop and Scan whose subgraphs run while a job runs.
#include <gmock/gmock.h>

#include <numeric>

#include "tests/dynamic/networks.h"

namespace millrace::runtime {
namespace {

using network::Network;
using tensor::DataType;
using test::attribute;
using test::body_of;
using test::boolean;
using test::floats;
using test::input;
using test::int64s;
using test::network_of;
using test::node;
using test::output;
using test::Runner;
using test::subgraph;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr DataType kFloat = DataType::kFloat32;
constexpr DataType kInt64 = DataType::kInt64;
constexpr DataType kBool = DataType::kBoolean;

Network relu_or_doubled() {
  Network relu = body_of({}, {node("Relu", {"x"}, {"relu"})}, {output("relu", kFloat)}, {"x"});
  Network doubled =
      body_of({}, {node("Concat", {"x", "x"}, {"doubled"}, {attribute("axis", int64_t{0})})},
              {output("doubled", kFloat)}, {"x"});
  return network_of({input("x", kFloat, {-1}), input("wanted", kBool, {})},
                    {node("If", {"wanted"}, {"y"},
                          {subgraph("then_branch", relu), subgraph("else_branch", doubled)})},
                    {output("y", kFloat)});
}

TEST(ControlFlow, AnIfRunsTheBranchOfItsCondition) {
  Runner runner(relu_or_doubled());
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto then_outputs = runner.run({floats({2}, {-1, 2}), boolean(true)});
    ASSERT_TRUE(then_outputs.ok()) << then_outputs.status().to_string();
    EXPECT_THAT((*then_outputs)[0].as<float>(), ElementsAre(0, 2));
    const auto else_outputs = runner.run({floats({2}, {-1, 2}), boolean(false)});
    ASSERT_TRUE(else_outputs.ok()) << else_outputs.status().to_string();
    EXPECT_THAT((*else_outputs)[0].as<float>(), ElementsAre(-1, 2, -1, 2));
  }
  EXPECT_EQ(runner.counters().made, 2u);
}

// The branches have nodes whose results have no shape before they run.
Network found_or_looped() {
  Network found =
      body_of({}, {node("NonZero", {"x"}, {"places"})}, {output("places", kInt64)}, {"x"});
  Network body = body_of({input("i", kInt64, {}), input("on", kBool, {})},
                         {node("Add", {"i", "i"}, {"twice"})},
                         {output("on", kBool), input("twice", kInt64, {})});
  Network looped = body_of({},
                           {node("Loop", {"count", ""}, {"numbers"}, {subgraph("body", body)}),
                            node("Unsqueeze", {"numbers", "axes"}, {"row"})},
                           {output("row", kInt64)}, {"count"});
  looped.initializers.push_back(test::constant("axes", int64s({1}, {0})));
  return network_of(
      {input("x", kFloat, {-1}), input("wanted", kBool, {}), input("count", kInt64, {})},
      {node("If", {"wanted"}, {"chosen"},
            {subgraph("then_branch", found), subgraph("else_branch", looped)}),
       node("Add", {"chosen", "chosen"}, {"y"})},
      {output("y", kInt64)});
}

TEST(ControlFlow, AnIfRunsABranchWhoseShapesFollowFromWhatItComputes) {
  Runner runner(found_or_looped());
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  const auto x = floats({3}, {1, 0, 2});
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto then_outputs = runner.run({x, boolean(true), int64s({}, {3})});
    ASSERT_TRUE(then_outputs.ok()) << then_outputs.status().to_string();
    EXPECT_THAT((*then_outputs)[0].shape, ElementsAre(1, 2));
    EXPECT_THAT((*then_outputs)[0].as<int64_t>(), ElementsAre(0, 4));
    const auto else_outputs = runner.run({x, boolean(false), int64s({}, {3})});
    ASSERT_TRUE(else_outputs.ok()) << else_outputs.status().to_string();
    EXPECT_THAT((*else_outputs)[0].as<int64_t>(), ElementsAre(0, 4, 8));
  }
}

// A Loop that gives what stays the same in all runs, or, without an iteration, what it gets.
TEST(ControlFlow, WhatALoopGivesIsNoConstantOfThePlansAfterIt) {
  Network body = body_of({input("i", kInt64, {}), input("on", kBool, {}), input("v", kInt64, {1})},
                         {}, {output("on", kBool), output("fixed", kInt64)});
  body.initializers.push_back(test::constant("fixed", int64s({1}, {5})));
  Network network =
      network_of({input("count", kInt64, {})},
                 {node("Loop", {"count", "", "start"}, {"v"}, {subgraph("body", body)}),
                  node("Add", {"v", "v"}, {"y"})},
                 {output("y", kInt64)});
  network.initializers.push_back(test::constant("start", int64s({1}, {1})));
  Runner runner(std::move(network));
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  for (const int64_t count : {0, 2, 0, 1}) {
    const auto outputs = runner.run({int64s({}, {count})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    EXPECT_THAT((*outputs)[0].as<int64_t>(), ElementsAre(count == 0 ? 2 : 10));
  }
}

// sum += x[i], until the sum is above `limit`; collects the sums.
Network sums_until() {
  Network body = body_of(
      {input("i", kInt64, {}), input("goes_on", kBool, {}), input("sum", kFloat, {})},
      {node("Gather", {"x", "i"}, {"element"}, {attribute("axis", int64_t{0})}),
       node("Add", {"sum", "element"}, {"next"}), node("LessOrEqual", {"next", "limit"}, {"below"}),
       node("Identity", {"next"}, {"part"})},
      {output("below", kBool), output("next", kFloat), input("part", kFloat, {})}, {"x", "limit"});
  return network_of(
      {input("count", kInt64, {}), input("x", kFloat, {-1}), input("limit", kFloat, {}),
       input("start", kFloat, {})},
      {node("Loop", {"count", "", "start"}, {"sum", "sums"}, {subgraph("body", body)})},
      {output("sum", kFloat), output("sums", kFloat)});
}

TEST(ControlFlow, ALoopEndsByItsCountOrItsCondition) {
  Runner runner(sums_until());
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  const auto x = floats({4}, {1, 2, 3, 4});
  const auto by_count = runner.run({int64s({}, {3}), x, floats({}, {100}), floats({}, {0})});
  ASSERT_TRUE(by_count.ok()) << by_count.status().to_string();
  EXPECT_THAT((*by_count)[0].as<float>(), ElementsAre(6));
  EXPECT_THAT((*by_count)[1].as<float>(), ElementsAre(1, 3, 6));
  const auto by_condition = runner.run({int64s({}, {4}), x, floats({}, {2}), floats({}, {0})});
  ASSERT_TRUE(by_condition.ok()) << by_condition.status().to_string();
  EXPECT_THAT((*by_condition)[1].as<float>(), ElementsAre(1, 3));
}

TEST(ControlFlow, ALoopOfNoIterationsGivesItsStartAndNothingCollected) {
  Runner runner(sums_until());
  const auto outputs =
      runner.run({int64s({}, {0}), floats({1}, {1}), floats({}, {2}), floats({}, {7})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(7));
  EXPECT_THAT((*outputs)[1].shape, ElementsAre(0));
}

TEST(ControlFlow, ALoopReusesThePlansOfItsIterations) {
  Runner runner(sums_until());
  const auto x = floats({4}, {1, 2, 3, 4});
  ASSERT_TRUE(runner.run({int64s({}, {4}), x, floats({}, {100}), floats({}, {0})}).ok());
  const uint64_t made = runner.counters().made;
  ASSERT_TRUE(runner.run({int64s({}, {4}), x, floats({}, {100}), floats({}, {1})}).ok());
  EXPECT_EQ(runner.counters().made, made);
}

Network endless() {
  Network body = body_of({input("i", kInt64, {}), input("on", kBool, {}), input("v", kFloat, {1})},
                         {node("Relu", {"v"}, {"w"}), node("Identity", {"on"}, {"still"})},
                         {output("still", kBool), output("w", kFloat)});
  return network_of({input("x", kFloat, {1})},
                    {node("Loop", {"", "", "x"}, {"y"}, {subgraph("body", body)})},
                    {output("y", kFloat)});
}

TEST(ControlFlow, ADeadlineEndsALoopThatNeverEnds) {
  Runner runner(endless());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  const auto outputs = runner.run_until(deadline, {floats({1}, {1})});
  EXPECT_EQ(outputs.status().code(), StatusCode::kDeadlineExceeded);
}

TEST(ControlFlow, ALoopWhoseSubgraphDoesNotFitIsRefused) {
  Network body = body_of({input("i", kInt64, {}), input("on", kBool, {})},
                         {node("Identity", {"on"}, {"still"})}, {output("still", kBool)});
  Runner runner(network_of({input("x", kFloat, {1})},
                           {node("Loop", {"", "", "x"}, {"y"}, {subgraph("body", body)})},
                           {output("y", kFloat)}));
  const Status status =
      runner.loaded().ok() ? runner.run({floats({1}, {1})}).status() : runner.loaded();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'y' (Loop)"));
}

// state += part of x; gives each state as a part of y.
Network running_sum(std::vector<network::Attribute> attributes) {
  Network body =
      body_of({input("state", kFloat, {2}), input("part", kFloat, {2})},
              {node("Add", {"state", "part"}, {"next"}), node("Identity", {"next"}, {"out"})},
              {output("next", kFloat), input("out", kFloat, {2})});
  attributes.push_back(subgraph("body", body));
  attributes.push_back(attribute("num_scan_inputs", int64_t{1}));
  return network_of({input("start", kFloat, {2}), input("x", kFloat, {-1, -1})},
                    {node("Scan", {"start", "x"}, {"last", "y"}, attributes)},
                    {output("last", kFloat), output("y", kFloat)});
}

TEST(ControlFlow, AScanWalksASequence) {
  Runner runner(running_sum({}));
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  const auto outputs = runner.run({floats({2}, {0, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(9, 12));
  EXPECT_THAT((*outputs)[1].shape, ElementsAre(3, 2));
  EXPECT_THAT((*outputs)[1].as<float>(), ElementsAre(1, 2, 4, 6, 9, 12));
}

TEST(ControlFlow, AScanWalksBackwardsAlongAnyDimension) {
  using graph::Dims;
  Runner runner(running_sum(
      {attribute("scan_input_axes", Dims{-1}), attribute("scan_input_directions", Dims{1}),
       attribute("scan_output_axes", Dims{1}), attribute("scan_output_directions", Dims{1})}));
  const auto outputs = runner.run({floats({2}, {0, 0}), floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(6, 15));
  EXPECT_THAT((*outputs)[1].shape, ElementsAre(2, 3));
  EXPECT_THAT((*outputs)[1].as<float>(), ElementsAre(6, 5, 3, 15, 11, 6));
}

// More parts than become nodes: what is above runs no Scan.
constexpr int64_t kManyParts = 600;
constexpr size_t kRoomForMany = 2 * kManyParts * sizeof(float);

// 1, 2 and so on.
std::vector<float> counted() {
  std::vector<float> numbers(kManyParts);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

TEST(ControlFlow, ALongScanWalksASequence) {
  Runner runner(running_sum({}));
  ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
  std::vector<float> parts(2 * kManyParts, 1), sums;
  for (size_t i = 0; const float number : counted()) parts[2 * i++] = number;
  const auto outputs =
      runner.run({floats({2}, {0, 0}), floats({kManyParts, 2}, parts)}, kRoomForMany);
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  for (const float number : counted()) sums.insert(sums.end(), {number * (number + 1) / 2, number});
  EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(sums[sums.size() - 2], sums.back()));
  EXPECT_THAT((*outputs)[1].shape, ElementsAre(kManyParts, 2));
  EXPECT_EQ((*outputs)[1].as<float>(), sums);
}

TEST(ControlFlow, ALongScanWalksBackwardsAlongAnyDimension) {
  using graph::Dims;
  Runner runner(running_sum(
      {attribute("scan_input_axes", Dims{-1}), attribute("scan_input_directions", Dims{1}),
       attribute("scan_output_axes", Dims{1}), attribute("scan_output_directions", Dims{1})}));
  std::vector<float> parts = counted();
  parts.resize(2 * kManyParts, 1);
  const auto outputs =
      runner.run({floats({2}, {0, 0}), floats({2, kManyParts}, parts)}, kRoomForMany);
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  std::vector<float> sums = parts;
  const auto second_row = sums.rbegin() + kManyParts;
  std::partial_sum(sums.rbegin(), second_row, sums.rbegin());
  std::partial_sum(second_row, sums.rend(), second_row);
  EXPECT_THAT((*outputs)[1].shape, ElementsAre(2, kManyParts));
  EXPECT_EQ((*outputs)[1].as<float>(), sums);
}

TEST(ControlFlow, AScanOfSequencesOfDifferentLengthsIsRefused) {
  Network body = body_of({input("a", kFloat, {}), input("b", kFloat, {})},
                         {node("Add", {"a", "b"}, {"sum"})}, {input("sum", kFloat, {})});
  Runner runner(
      network_of({input("p", kFloat, {-1}), input("q", kFloat, {-1})},
                 {node("Scan", {"p", "q"}, {"y"},
                       {subgraph("body", body), attribute("num_scan_inputs", int64_t{2})})},
                 {output("y", kFloat)}));
  const auto status = runner.run({floats({2}, {1, 2}), floats({3}, {1, 2, 3})}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("2 and 3"));
}

}  // namespace
}  // namespace millrace::runtime
