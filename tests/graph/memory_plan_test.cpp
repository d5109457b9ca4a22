#include "graph/memory_plan.h"

#include <gmock/gmock.h>

#include <iterator>
#include <limits>
#include <map>
#include <random>

namespace millrace::graph {
namespace {

using ::testing::ElementsAre;

TEST(PlanMemory, OfNothingIsNothing) {
  const MemoryPlan plan = plan_memory({});
  EXPECT_EQ(plan.arena_bytes, 0u);
  EXPECT_TRUE(plan.offsets.empty());
}

TEST(PlanMemory, ReusesMemoryOfTheDead) {
  const std::vector<Lifetime> chain = {{640, 0, 1, {}}, {640, 1, 2, {}}, {640, 2, 3, {}}};
  const MemoryPlan plan = plan_memory(chain);
  EXPECT_EQ(plan.arena_bytes, 2 * 640u);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(PlanMemory, FillsGapsWithSmallValues) {
  const std::vector<Lifetime> lifetimes = {
      {64, 2, 2, {}}, {256, 0, 1, {}}, {128, 1, 3, {}}, {64, 3, 3, {}}};
  EXPECT_EQ(plan_memory(lifetimes).arena_bytes, 384u);
}

TEST(PlanMemory, AlignsEveryOffset) {
  const std::vector<Lifetime> lifetimes = {{1, 0, 1, {}}, {65, 0, 1, {}}, {100, 0, 1, {}}};
  for (size_t offset : plan_memory(lifetimes).offsets) EXPECT_EQ(offset % kArenaAlignment, 0u);
}

TEST(PlanMemory, TakesOverAPlace) {
  const std::vector<Lifetime> chain = {{128, 0, 1, {}}, {128, 1, 2, 0}, {128, 2, 3, 1}};
  const MemoryPlan plan = plan_memory(chain);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0, 0));
  EXPECT_EQ(plan.arena_bytes, 128u);
}

TEST(PlanMemory, APlaceIsTakenOverOnce) {
  const std::vector<Lifetime> lifetimes = {{64, 0, 1, {}}, {64, 1, 2, 0}, {64, 1, 2, 0}};
  const MemoryPlan plan = plan_memory(lifetimes);
  EXPECT_EQ(plan.offsets[1], plan.offsets[0]);
  EXPECT_NE(plan.offsets[2], plan.offsets[1]);
}

TEST(PlanMemory, APlaceStillInUseIsNotTakenOver) {
  const std::vector<Lifetime> lifetimes = {{64, 0, 3, {}}, {64, 1, 2, 0}};
  const MemoryPlan plan = plan_memory(lifetimes);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(PlanMemory, ASuccessorMayBeLarger) {
  const std::vector<Lifetime> lifetimes = {{64, 0, 1, {}}, {256, 1, 2, 0}, {64, 0, 2, {}}};
  const MemoryPlan plan = plan_memory(lifetimes);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.arena_bytes, 320u);
}

TEST(PlanMemory, SizesBeyondMemorySaturate) {
  const std::vector<Lifetime> lifetimes = {{SIZE_MAX - 70, 0, 1, {}}, {SIZE_MAX / 2, 0, 1, {}}};
  EXPECT_EQ(plan_memory(lifetimes).arena_bytes, SIZE_MAX);
}

TEST(PlanMemory, CentredValuesHaveTheirMiddlesAtOnePlace) {
  const std::vector<Lifetime> chain = {
      {640, 0, 1, {}}, {1280, 1, 2, {}}, {256, 2, 3, {}}, {512, 3, 4, {}}};
  const MemoryPlan plan = plan_memory(chain, Placement::kCentred);
  const auto middle = [&](size_t i) { return plan.offsets[i] + chain[i].bytes / 2; };
  EXPECT_EQ(middle(1), middle(3));
  EXPECT_EQ(middle(0), middle(2));
  EXPECT_EQ(plan.arena_bytes, 1280u + 640u);
}

TEST(PlanMemory, CentredValuesMayNotTakeMuchMoreMemory) {
  // All but the first live at the same time, in its memory where they are not centred.
  std::vector<Lifetime> lifetimes = {{640, 0, 0, {}}};
  lifetimes.insert(lifetimes.end(), 10, {64, 1, 1, {}});
  EXPECT_EQ(plan_memory(lifetimes).arena_bytes, 640u);
  EXPECT_EQ(plan_memory(lifetimes, Placement::kCentred).arena_bytes, 640u);
}

std::vector<Lifetime> random_lifetimes(std::mt19937& random) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  std::vector<Lifetime> lifetimes;
  const uint32_t count = 1 + below(60);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t first = below(40);
    Lifetime lifetime{below(5000), first, first + below(8), std::nullopt};
    if (i > 0 && below(3) == 0) lifetime.in_place_of = below(i);
    lifetimes.push_back(lifetime);
  }
  return lifetimes;
}

// Whether `later` uses memory that it took over from `earlier`, directly or along a chain.
bool took_over(const std::vector<Lifetime>& lifetimes, size_t later, size_t earlier) {
  for (auto from = lifetimes[later].in_place_of; from; from = lifetimes[*from].in_place_of) {
    if (*from == earlier) return lifetimes[later].first >= lifetimes[earlier].last;
  }
  return false;
}

void expect_disjoint(const std::vector<Lifetime>& lifetimes, const MemoryPlan& plan) {
  for (size_t b = 0; b < lifetimes.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const Lifetime &x = lifetimes[a], &y = lifetimes[b];
      const bool same_time = x.first <= y.last && y.first <= x.last;
      const bool same_memory = plan.offsets[a] < plan.offsets[b] + y.bytes &&
                               plan.offsets[b] < plan.offsets[a] + x.bytes;
      if (!same_time || !same_memory) continue;
      EXPECT_TRUE(took_over(lifetimes, b, a)) << a << " and " << b;
    }
  }
}

class PlanOfRandomLifetimes : public ::testing::TestWithParam<Placement> {};

INSTANTIATE_TEST_SUITE_P(Placements, PlanOfRandomLifetimes,
                         ::testing::Values(Placement::kCompact, Placement::kCentred));

TEST_P(PlanOfRandomLifetimes, NeverCollide) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::vector<Lifetime> lifetimes = random_lifetimes(random);
    const MemoryPlan plan = plan_memory(lifetimes, GetParam());
    ASSERT_EQ(plan.offsets.size(), lifetimes.size());
    expect_disjoint(lifetimes, plan);
    size_t sum = 0;
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      sum += (lifetimes[i].bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
      EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.arena_bytes);
    }
    EXPECT_LE(plan.arena_bytes, sum);
    EXPECT_EQ(plan.offsets, plan_memory(lifetimes, GetParam()).offsets);
  }
}

// Expects that lifetimes that overlap in time are apart in memory. `lifetimes` is sorted by begin.
void expect_apart(const std::vector<Lifetime>& lifetimes, const MemoryPlan& plan) {
  std::multimap<uint32_t, size_t> ends;  // of the lifetimes in use
  std::map<size_t, size_t> used;         // by offset: the end of the block
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    while (!ends.empty() && ends.begin()->first < lifetimes[i].first) {
      used.erase(plan.offsets[ends.begin()->second]);
      ends.erase(ends.begin());
    }
    const size_t begin = plan.offsets[i], end = begin + lifetimes[i].bytes;
    const auto next = used.lower_bound(begin);
    ASSERT_TRUE(next == used.end() || next->first >= end) << i;
    ASSERT_TRUE(next == used.begin() || std::prev(next)->second <= begin) << i;
    ASSERT_LE(end, plan.arena_bytes);
    used.emplace(begin, end);
    ends.emplace(lifetimes[i].last, i);
  }
}

// With quadratic cost, the number of comparisons would be beyond 10^11.
TEST(PlanMemory, HundredsOfThousandsOfValuesShareMemory) {
  std::mt19937 random(5);
  std::vector<Lifetime> lifetimes;
  for (uint32_t step = 0; step < 400'000; ++step)
    lifetimes.push_back(
        {64 * (1 + random() % 8), step, step + 1 + static_cast<uint32_t>(random() % 4), {}});
  const MemoryPlan plan = plan_memory(lifetimes);
  expect_apart(lifetimes, plan);
  EXPECT_LE(plan.arena_bytes, 16 * 512u) << "five are in use at a time";
}

TEST(PlanMemory, OfManyValuesTheSizeMayBeBeyondAnyMemory) {
  const size_t half = std::numeric_limits<size_t>::max() / 2;
  EXPECT_EQ(plan_memory(std::vector<Lifetime>(10'000, {half, 0, 1, {}})).arena_bytes,
            std::numeric_limits<size_t>::max());
}

class InPlaceTest : public ::testing::Test {
 protected:
  ValueId add(Dims shape) {
    return graph.add_value({"", tensor::DataType::kFloat32, std::move(shape), {}});
  }
  std::optional<size_t> in_place(Operator op, std::vector<ValueId> inputs, ValueId output) {
    return in_place_operand(graph, {"", std::move(op), std::move(inputs), {output}});
  }
  Graph graph;
};

TEST_F(InPlaceTest, ElementwiseOperatorsWriteOverAnOperandOfTheSameShape) {
  const ValueId full = add({2, 3}), row = add({3}), out = add({2, 3});
  EXPECT_EQ(in_place(Unary{}, {full}, out), 0u);
  EXPECT_EQ(in_place(Binary{}, {full, row}, out), 0u);
  EXPECT_EQ(in_place(Binary{}, {row, full}, out), 1u);
  EXPECT_EQ(in_place(Binary{}, {row, row}, out), std::nullopt);
}

TEST_F(InPlaceTest, ConvWritesOverItsResidual) {
  const ValueId x = add({1, 4, 2, 2}), weight = add({4, 4, 1, 1}), out = add({1, 4, 2, 2});
  const ValueId residual = add({1, 4, 2, 2});
  EXPECT_EQ(in_place(Conv{}, {x, weight, kNoValue, residual}, out), 3u);
  EXPECT_EQ(in_place(Conv{}, {x, weight}, out), std::nullopt);
  EXPECT_EQ(in_place(Conv{}, {x, weight, kNoValue, x}, out), std::nullopt);
}

TEST_F(InPlaceTest, TensorScatterWritesIntoItsCache) {
  const ValueId cache = add({1, 2, 9, 4}), update = add({1, 2, 1, 4}), out = add({1, 2, 9, 4});
  EXPECT_EQ(in_place(Fallback{"TensorScatter", {}}, {cache, update}, out), 0u);
  EXPECT_EQ(in_place(Fallback{"TensorScatter", {}}, {cache, cache}, out), std::nullopt);
  EXPECT_EQ(in_place(Fallback{"ScatterND", {}}, {cache, update}, out), std::nullopt);
}

// A job may bind one memory as both boundary values.
TEST_F(InPlaceTest, TensorScatterUpdatesAnInputThatNothingElseReads) {
  const ValueId cache = add({1, 2, 9, 4}), update = add({1, 2, 1, 4}), out = add({1, 2, 9, 4});
  const ValueId other = add({1, 2, 9, 4});
  const auto scatter = [](std::vector<ValueId> inputs, ValueId output) {
    return Node{"", Fallback{"TensorScatter", {}}, std::move(inputs), {output}};
  };
  graph.inputs = {cache, update};
  graph.outputs = {out};
  EXPECT_FALSE(is_updated_in_place(graph, cache, out)) << "nothing makes the output";
  graph.nodes = {scatter({cache, update}, out)};
  EXPECT_TRUE(is_updated_in_place(graph, cache, out));
  EXPECT_FALSE(is_updated_in_place(graph, update, out)) << "the update is read after the write";
  EXPECT_FALSE(is_updated_in_place(graph, cache, other));
  EXPECT_FALSE(is_updated_in_place(graph, kNoValue, kNoValue)) << "a model with open shapes";
  graph.nodes.push_back({"", Unary{}, {out}, {other}});
  EXPECT_TRUE(is_updated_in_place(graph, cache, out)) << "the reader is after the write";
  graph.nodes.push_back({"", Unary{}, {cache}, {other}});
  EXPECT_FALSE(is_updated_in_place(graph, cache, out)) << "the reader may be after the write";
  graph.nodes = {scatter({cache, cache}, out)};
  EXPECT_FALSE(is_updated_in_place(graph, cache, out));
  graph.nodes = {scatter({cache, update}, out)};
  graph.outputs = {out, cache};
  EXPECT_FALSE(is_updated_in_place(graph, cache, out)) << "the job returns the old cache, too";
}

TEST_F(InPlaceTest, NeverOverConstantsOrBoundaryValues) {
  const ValueId input = add({3}), result = add({3}), out = add({3});
  const ValueId constant =
      graph.add_constant("", tensor::DataType::kFloat32, {3}, Constant::of(std::vector<float>(3)));
  graph.inputs = {input};
  graph.outputs = {result};
  for (ValueId id : {input, result, constant})
    EXPECT_EQ(in_place(Unary{}, {id}, out), std::nullopt);
}

TEST_F(InPlaceTest, OperatorsThatReadElsewhereAreNotInPlace) {
  const ValueId x = add({3, 3}), out = add({3, 3});
  EXPECT_EQ(in_place(Transpose{{1, 0}}, {x}, out), std::nullopt);
  EXPECT_EQ(in_place(MatMul{}, {x, x}, out), std::nullopt);
}

}  // namespace
}  // namespace millrace::graph
