// The cheapest choice against all choices.
#include "device/cpu/plan/cheapest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace millrace::device::cpu::plan {
namespace {

uint64_t cost_of(const Problem& problem, const std::vector<uint32_t>& choice) {
  uint64_t cost = 0;
  for (size_t i = 0; i < choice.size(); ++i) cost += problem.own[i][choice[i]];
  for (const Between& pair : problem.between)
    cost += pair.costs[choice[pair.a] * problem.own[pair.b].size() + choice[pair.b]];
  return cost;
}

uint64_t least_cost(const Problem& problem) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  std::vector<uint32_t> choice(problem.own.size(), 0);
  while (true) {
    least = std::min(least, cost_of(problem, choice));
    size_t i = 0;
    while (i < choice.size() && ++choice[i] == problem.own[i].size()) choice[i++] = 0;
    if (i == choice.size()) return least;
  }
}

Between between(uint32_t a, uint32_t b, size_t options, std::mt19937& random) {
  Between pair{a, b, std::vector<uint64_t>(options)};
  for (uint64_t& cost : pair.costs) cost = random() % 100;
  return pair;
}

TEST(Cheapest, IsAsCheapAsTheBestOfAllChoices) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    Problem problem;
    for (size_t variables = 1 + random() % 7; problem.own.size() < variables;) {
      problem.own.emplace_back(1 + random() % 4);
      for (uint64_t& cost : problem.own.back()) cost = random() % 100;
    }
    const auto count = static_cast<uint32_t>(problem.own.size());
    for (uint32_t a = 0; a < count; ++a)
      for (uint32_t b = 0; b < count; ++b)
        if (a != b && random() % 3 == 0)
          problem.between.push_back(
              between(a, b, problem.own[a].size() * problem.own[b].size(), random));
    EXPECT_EQ(cost_of(problem, cheapest(problem)), least_cost(problem)) << "problem " << i;
  }
}

TEST(Cheapest, AMoveThatCostsMoreThanItSavesIsNotMade) {
  // The middle one would be faster alone in its second form.
  Problem problem{{{10, 20}, {10, 5}, {10, 20}}, {}};
  const std::vector<uint64_t> moves = {0, 3, 3, 0};
  problem.between = {{0, 1, moves}, {1, 2, moves}};
  EXPECT_EQ(cheapest(problem), (std::vector<uint32_t>{0, 0, 0}));
  problem.between[0].costs = problem.between[1].costs = {0, 2, 2, 0};
  EXPECT_EQ(cheapest(problem), (std::vector<uint32_t>{0, 1, 0}));
}

TEST(Cheapest, TakesTheFirstOfEquals) {
  EXPECT_EQ(cheapest({{{7, 7, 7}, {5, 4, 4}}, {}}), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(cheapest({}).empty());
}

// Its table would have 4^39 entries.
TEST(Cheapest, ManyVariablesThatAllDependOnEachOtherEndSoon) {
  constexpr uint32_t kVariables = 40, kOptions = 4;
  std::mt19937 random(2);
  Problem problem;
  problem.own.assign(kVariables, std::vector<uint64_t>(kOptions, 10));
  for (uint32_t a = 0; a < kVariables; ++a)
    for (uint32_t b = a + 1; b < kVariables; ++b)
      problem.between.push_back(between(a, b, kOptions * kOptions, random));
  const std::vector<uint32_t> chosen = cheapest(problem);
  ASSERT_EQ(chosen.size(), kVariables);
  EXPECT_LT(*std::ranges::max_element(chosen), kOptions);
  EXPECT_EQ(chosen, cheapest(problem));
}

// Each elimination must not look at all costs again.
TEST(Cheapest, ALongChainEndsSoon) {
  constexpr uint32_t kVariables = 3'000;
  Problem problem;
  problem.own.assign(kVariables, {1, 2});
  for (uint32_t a = 0; a + 1 < kVariables; ++a) problem.between.push_back({a, a + 1, {0, 5, 5, 0}});
  EXPECT_EQ(cheapest(problem), std::vector<uint32_t>(kVariables, 0));
}

}  // namespace
}  // namespace millrace::device::cpu::plan
