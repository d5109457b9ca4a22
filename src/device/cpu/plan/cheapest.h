// The cheapest choice of one option for each of many variables, where options have costs of their
// own and pairs of variables have costs between them.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::device::cpu::plan {

// Costs of the options of variable `b` beside those of variable `a`, which differs from `b`.
struct Between {
  uint32_t a = 0, b = 0;
  std::vector<uint64_t> costs;  // [option of a][option of b]
};

struct Problem {
  std::vector<std::vector<uint64_t>> own;  // [variable][option]; each has an option at least
  std::vector<Between> between;
};

// Returns the number of the option of each variable. The same problem has the same answer; of
// options with equal cost, the first is taken.
//
// Variable elimination is dynamic programming over a graph instead of a chain, and exact. If a
// table would become too large, because very many variables depend on each other, the variable
// takes the option that is cheapest by itself.
std::vector<uint32_t> cheapest(const Problem& problem);

}  // namespace millrace::device::cpu::plan
