// The convolutions of a model as a problem, for times of the test's own.
#include "device/cpu/plan/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/device_cpu/model_builder.h"

namespace millrace::device::cpu::plan {
namespace {

using Candidates = std::vector<Candidate>;
using ::testing::ElementsAre;

// Convolutions with windows of 1 x 1 have two kernels; what of the others is known is `others`.
class KnownTimes final : public Times {
 public:
  explicit KnownTimes(std::optional<Candidates> others) : others_(std::move(others)) {}

  std::optional<Candidates> candidates(const kernels::Convolution& convolution, uint32_t) override {
    if (convolution.weight.back() != 1) return others_;
    return Candidates{{Form::kBlocked, "aBcd16b", "aBcd16b", "jit", 20},
                      {Form::kChannelsLast, "acdb", "acdb", "brgconv", 10}};
  }
  std::optional<Candidate> pair(const kernels::Convolution&, const kernels::Convolution&,
                                uint32_t) override {
    return pair_;
  }
  void set_pair(std::optional<Candidate> pair) { pair_ = std::move(pair); }
  std::optional<uint64_t> move(const Dims&, ElementType, const std::string&, const std::string&,
                               uint32_t) override {
    return 5;
  }

 private:
  const std::optional<Candidates> others_;
  std::optional<Candidate> pair_;
};

// Three convolutions in a row, of which the second has a window of 3 x 3.
std::shared_ptr<const graph::CompiledModel> network() {
  ModelBuilder builder;
  graph::ValueId x = builder.input({1, 16, 8, 8});
  for (const int64_t kernel : {1, 3, 1})
    x = builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
                     {x, builder.constant(Tensor::numbers({16, 16, kernel, kernel}, 3))});
  builder.output(x);
  return builder.build();
}

std::optional<Network> described(std::optional<Candidates> others) {
  KnownTimes times(std::move(others));
  const auto model = network();
  return describe(*model, ElementType::f32, Division(*model, ElementType::f32, 1), times);
}

TEST(PlannedNetwork, HasEveryConvolutionThatHasKernels) {
  const auto found = described(Candidates{{Form::kBlocked, "abcd", "abcd", "jit", 7}});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(found->problem.between.size(), 2u);
}

// Its neighbours are chosen without it: it reads and makes images in C order.
TEST(PlannedNetwork, AConvolutionWithoutAChoiceIsLeftOut) {
  const auto found = described(Candidates{});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->nodes, ElementsAre(0, 2));
  EXPECT_TRUE(found->problem.between.empty());
  // The kernel, and reorders from and to C order.
  EXPECT_THAT(found->problem.own, ElementsAre(ElementsAre(30, 20), ElementsAre(30, 20)));
}

// The times that are known do not matter for this.
TEST(PlannedNetwork, OnlyConvolutionsInTheTypeOfTheProgramArePlanned) {
  const auto model = network();
  graph::Node node = model->graph.nodes[0];
  graph::Partition partition = model->partitions.at(0);
  EXPECT_TRUE(is_planned(model->graph, node, partition));
  partition.kind = graph::PartitionKind::kCpu;
  EXPECT_FALSE(is_planned(model->graph, node, partition));
  partition.kind = graph::PartitionKind::kNpu;
  node.precision = graph::Precision::kBf16;
  EXPECT_FALSE(is_planned(model->graph, node, partition));
}

TEST(PlannedNetwork, IsNoneWhereATimeIsUnknown) {
  EXPECT_FALSE(described(std::nullopt));
}

// A convolution of one pixel and a depthwise one behind it, whose result callers read.
std::shared_ptr<const graph::CompiledModel> separable_network(bool also_read = false) {
  ModelBuilder builder;
  const graph::ValueId between = builder.node(
      graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
      {builder.input({1, 16, 8, 8}), builder.constant(Tensor::numbers({32, 16, 1, 1}, 3))});
  builder.output(builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 32, {}},
                              {between, builder.constant(Tensor::numbers({32, 1, 3, 3}, 4))}));
  if (also_read) builder.output(between);
  return builder.build();
}

std::vector<Form> cheapest_forms(const graph::CompiledModel& model, Times& times) {
  const auto found = describe(model, ElementType::f32, Division(model, ElementType::f32, 1), times);
  std::vector<Form> forms;
  if (!found) return forms;
  const std::vector<uint32_t> chosen = cheapest(found->problem);
  for (size_t i = 0; i < chosen.size(); ++i) forms.push_back(found->candidates[i][chosen[i]].form);
  return forms;
}

// The step competes with kernels that take 10 for the one convolution and 30 for the other.
TEST(PlannedNetwork, OneStepForTwoConvolutionsIsTakenWhereItIsFaster) {
  const Candidates depthwise = {{Form::kBlocked, "aBcd16b", "aBcd16b", "jit", 30},
                                {Form::kChannelsLast, "acdb", "acdb", "brgconv", 30}};
  KnownTimes times(depthwise);
  const auto step = [](uint64_t nanoseconds) {
    return Candidate{Form::kSeparable, "aBcd16b", "aBcd16b", "millrace:separable", nanoseconds};
  };
  times.set_pair(step(39));
  EXPECT_THAT(cheapest_forms(*separable_network(), times),
              ElementsAre(Form::kSeparable, Form::kSeparable));
  times.set_pair(step(41));
  EXPECT_THAT(cheapest_forms(*separable_network(), times),
              ElementsAre(Form::kChannelsLast, Form::kChannelsLast));
  // Neither seems to be for nothing where it is decided about alone; each moves its image, too.
  const auto found = describe(*separable_network(), ElementType::f32,
                              Division(*separable_network(), ElementType::f32, 1), times);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problem.own[0][0], 20U + 5);
  EXPECT_EQ(found->problem.own[1][0], 21U + 5);
  // The value between is an output for callers, too, so it has to be written.
  times.set_pair(step(1));
  EXPECT_THAT(cheapest_forms(*separable_network(true), times),
              ElementsAre(Form::kChannelsLast, Form::kChannelsLast));
  // The depthwise one has no kernel to choose.
  KnownTimes without(Candidates{});
  without.set_pair(step(1));
  EXPECT_THAT(cheapest_forms(*separable_network(), without), ElementsAre(Form::kChannelsLast));
  times.set_pair(std::nullopt);
  EXPECT_THAT(cheapest_forms(*separable_network(), times), ElementsAre());
}

}  // namespace
}  // namespace millrace::device::cpu::plan
