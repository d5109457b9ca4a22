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

  std::optional<Candidates> candidates(const kernels::Convolution& convolution) override {
    if (convolution.weight.back() != 1) return others_;
    return Candidates{{Form::kBlocked, "aBcd16b", "aBcd16b", "jit", 20},
                      {Form::kChannelsLast, "acdb", "acdb", "brgconv", 10}};
  }
  std::optional<uint64_t> move(const Dims&, ElementType, const std::string&,
                               const std::string&) override {
    return 5;
  }

 private:
  const std::optional<Candidates> others_;
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
  return describe(*network(), ElementType::f32, times);
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

TEST(PlannedNetwork, IsNoneWhereATimeIsUnknown) {
  EXPECT_FALSE(described(std::nullopt));
}

}  // namespace
}  // namespace millrace::device::cpu::plan
