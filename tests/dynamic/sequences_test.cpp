// Sequences of tensors that loops carry.
#include <gmock/gmock.h>

#include "lowering/loops/carried_sequences.h"
#include "lowering/node_facts.h"
#include "tests/dynamic/networks.h"

namespace millrace::runtime {
namespace {

using network::Network;
using network::Node;
using tensor::DataType;
using test::attribute;
using test::body_of;
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

constexpr DataType kFloat = DataType::kFloat32;
constexpr DataType kInt64 = DataType::kInt64;
constexpr DataType kBool = DataType::kBoolean;

network::Input sequence(std::string name) {
  return {std::move(name)};
}

// Adds x, 2x, 4x and so on to a sequence, as often as `count` says, and makes `after` of what has
// become of it, `all`. `at` is the place of each new one: none, or a name in the body.
Network collecting(std::vector<Node> after, network::Output result, const std::string& at = "") {
  Network body = body_of({input("i", kInt64, {}), input("on", kBool, {}),
                          input("value", kFloat, {-1}), sequence("before")},
                         {node("SequenceInsert", {"before", "value", at}, {"behind"}),
                          node("Add", {"value", "value"}, {"twice"})},
                         {output("on", kBool), output("twice", kFloat), sequence("behind")});
  body.initializers.push_back(test::constant("front", int64s({}, {0})));
  std::vector<Node> nodes = {
      node("SequenceEmpty", {}, {"none"}),
      node("Loop", {"count", "", "x", "none"}, {"last", "all"}, {subgraph("body", body)})};
  nodes.insert(nodes.end(), after.begin(), after.end());
  Network network = network_of({input("x", kFloat, {-1}), input("count", kInt64, {})},
                               std::move(nodes), {std::move(result)});
  network.initializers.push_back(test::constant("second", int64s({}, {1})));
  network.initializers.push_back(test::constant("beyond", int64s({}, {-4})));
  lowering::mark_carried_sequences(network);
  return network;
}

Result<test::Tensor> run(Network network, int64_t count) {
  Runner runner(std::move(network));
  MILLRACE_RETURN_IF_ERROR(runner.loaded());
  MILLRACE_ASSIGN_OR_RETURN(auto outputs, runner.run({floats({2}, {1, 3}), int64s({}, {count})}));
  return outputs[0];
}

TEST(CarriedSequences, AreJoinedAfterTheLoop) {
  const auto y = run(
      collecting({node("ConcatFromSequence", {"all"}, {"joined"}, {attribute("axis", int64_t{0})}),
                  node("Neg", {"joined"}, {"y"})},
                 output("y", kFloat)),
      3);
  ASSERT_TRUE(y.ok()) << y.status().to_string();
  EXPECT_THAT(y->shape, ElementsAre(6));
  EXPECT_THAT(y->as<float>(), ElementsAre(-1, -3, -2, -6, -4, -12));
}

TEST(CarriedSequences, AreJoinedAlongANewDimension) {
  const auto y =
      run(collecting({node("ConcatFromSequence", {"all"}, {"y"},
                           {attribute("axis", int64_t{-1}), attribute("new_axis", int64_t{1})})},
                     output("y", kFloat), "front"),
          3);
  ASSERT_TRUE(y.ok()) << y.status().to_string();
  EXPECT_THAT(y->shape, ElementsAre(2, 3));
  EXPECT_THAT(y->as<float>(), ElementsAre(4, 2, 1, 12, 6, 3));
}

TEST(CarriedSequences, AreChangedAndReadAfterTheLoop) {
  const auto y = run(collecting({node("SequenceErase", {"all", "second"}, {"fewer"}),
                                 node("SequenceAt", {"fewer", "second"}, {"y"})},
                                output("y", kFloat)),
                     3);
  ASSERT_TRUE(y.ok()) << y.status().to_string();
  EXPECT_THAT(y->as<float>(), ElementsAre(4, 12));
  const auto length =
      run(collecting({node("SequenceLength", {"all"}, {"y"})}, output("y", kInt64)), 70);
  ASSERT_TRUE(length.ok()) << length.status().to_string();
  EXPECT_THAT(length->as<int64_t>(), ElementsAre(70));
}

TEST(CarriedSequences, WithoutIterationsStayEmpty) {
  const auto y = run(collecting({node("SequenceLength", {"all"}, {"y"})}, output("y", kInt64)), 0);
  ASSERT_TRUE(y.ok()) << y.status().to_string();
  EXPECT_THAT(y->as<int64_t>(), ElementsAre(0));
  const auto joined =
      run(collecting({node("ConcatFromSequence", {"all"}, {"y"}, {attribute("axis", int64_t{0})})},
                     output("y", kFloat)),
          0);
  EXPECT_EQ(joined.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(joined.status().message(), HasSubstr("its sequence is empty"));
}

TEST(CarriedSequences, ErrorsNameNodeAndReason) {
  const auto beyond =
      run(collecting({node("SequenceAt", {"all", "beyond"}, {"y"})}, output("y", kFloat)), 3);
  EXPECT_EQ(beyond.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(beyond.status().message(), HasSubstr("SequenceAt"));
  EXPECT_THAT(beyond.status().message(), HasSubstr("position -4 is out of range for 3 tensors"));
  const auto axis =
      run(collecting({node("ConcatFromSequence", {"all"}, {"y"}, {attribute("axis", int64_t{1})})},
                     output("y", kFloat)),
          3);
  EXPECT_EQ(axis.status().code(), StatusCode::kInvalidArgument);
}

// The first parts of `lengths`, one for each iteration, with the members of a sequence that the
// loop reads.
Network reading_parts(const test::Tensor& lengths) {
  Network body =
      body_of({input("i", kInt64, {}), input("on", kBool, {}), sequence("before")},
              {node("SequenceAt", {"parts", "i"}, {"part"}), node("Neg", {"part"}, {"negative"}),
               node("SequenceInsert", {"before", "negative"}, {"behind"})},
              {output("on", kBool), sequence("behind")}, {"parts"});
  Network network = network_of(
      {input("x", kFloat, {-1})},
      {node("SplitToSequence", {"x", "lengths"}, {"parts"}, {attribute("axis", int64_t{0})}),
       node("SequenceLength", {"parts"}, {"count"}), node("SequenceEmpty", {}, {"none"}),
       node("Loop", {"count", "", "none"}, {"all"}, {subgraph("body", body)}),
       node("ConcatFromSequence", {"all"}, {"y"}, {attribute("axis", int64_t{0})})},
      {output("y", kFloat)});
  network.initializers.push_back(test::constant("lengths", lengths));
  lowering::mark_carried_sequences(network);
  return network;
}

TEST(CarriedSequences, AreReadInALoopThatCapturesThem) {
  for (const test::Tensor& lengths : {int64s({3}, {1, 0, 3}), int64s({}, {3}), int64s({}, {1})}) {
    Runner runner(reading_parts(lengths));
    ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
    const auto outputs = runner.run({floats({4}, {1, 2, 3, 4})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    EXPECT_THAT((*outputs)[0].as<float>(), ElementsAre(-1, -2, -3, -4));
  }
  for (const test::Tensor& lengths :
       {int64s({2}, {1, 2}), int64s({2}, {5, -1}), int64s({}, {0}), int64s({}, {-3})}) {
    Runner runner(reading_parts(lengths));
    ASSERT_TRUE(runner.loaded().ok()) << runner.loaded().to_string();
    EXPECT_EQ(runner.run({floats({4}, {1, 2, 3, 4})}).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(CarriedSequences, OthersAreLoweredWithTheirMembers) {
  Network network = collecting({node("SequenceConstruct", {"x", "last"}, {"pair"}),
                                node("SequenceAt", {"pair", "second"}, {"y"})},
                               output("y", kFloat));
  const auto domain_of = [&](std::string_view name) {
    for (const Node& each : network.nodes)
      if (each.outputs[0] == name) return each.domain;
    return std::string("there is no such node");
  };
  EXPECT_EQ(domain_of("none"), lowering::kCarriedDomain);
  EXPECT_EQ(domain_of("pair"), "");
  EXPECT_EQ(domain_of("y"), "");
  const auto y = run(std::move(network), 1);
  ASSERT_TRUE(y.ok()) << y.status().to_string();
  EXPECT_THAT(y->as<float>(), ElementsAre(2, 6));
}

}  // namespace
}  // namespace millrace::runtime
