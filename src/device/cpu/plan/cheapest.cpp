// Variable elimination ("bucket elimination"), with the variable that has the fewest neighbours
// first. Eliminating a variable replaces its factors by one over its neighbours: for each
// assignment of these, the least sum of the factors over the options of the variable. The options
// are then read off in reverse order. The table of a factor has the product of the numbers of its
// neighbours' options, at most kLargestTable; a variable whose table would be larger takes its own
// cheapest option.
#include "device/cpu/plan/cheapest.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace millrace::device::cpu::plan {
namespace {

constexpr size_t kLargestTable = size_t{1} << 14;

// A cost by the options of the variables `scope`; the last of them varies fastest.
struct Factor {
  std::vector<uint32_t> scope;
  std::vector<uint64_t> table;
};

class Elimination {
 public:
  explicit Elimination(const Problem& problem)
      : own_(problem.own),
        factors_of_(problem.own.size()),
        neighbours_(problem.own.size()),
        answer_(problem.own.size()) {
    for (uint32_t variable = 0; variable < own_.size(); ++variable) left_.emplace(0, variable);
    for (const Between& pair : problem.between) {
      add({{pair.a, pair.b}, pair.costs});
      join({pair.a, pair.b});
    }
  }

  // Takes the variable with the fewest neighbours first, and among equal ones the lowest number.
  std::vector<uint32_t> run() {
    while (!left_.empty()) {
      const uint32_t variable = left_.begin()->second;
      left_.erase(left_.begin());
      eliminate(variable);
    }
    for (size_t i = decisions_.size(); i-- > 0;) {
      const auto& [variable, by_neighbours] = decisions_[i];
      answer_[variable] = static_cast<uint32_t>(by_neighbours.table[index(by_neighbours)]);
    }
    return std::move(answer_);
  }

 private:
  size_t options(uint32_t variable) const { return own_[variable].size(); }

  // Removes the variable from the sets of its neighbours, and returns the neighbours.
  std::vector<uint32_t> take_out(uint32_t variable) {
    for (const uint32_t each : neighbours_[variable])
      change_neighbours(each, [&](auto& all) { all.erase(variable); });
    return {neighbours_[variable].begin(), neighbours_[variable].end()};
  }

  // Makes the variables neighbours of each other.
  void join(const std::vector<uint32_t>& scope) {
    for (const uint32_t each : scope)
      change_neighbours(each, [&](auto& all) {
        for (const uint32_t other : scope)
          if (each != other) all.insert(other);
      });
  }

  // Changes the neighbours of a variable that is left.
  template <class Change>
  void change_neighbours(uint32_t variable, const Change& change) {
    left_.erase({neighbours_[variable].size(), variable});
    change(neighbours_[variable]);
    left_.emplace(neighbours_[variable].size(), variable);
  }

  void add(Factor factor) {
    for (const uint32_t each : factor.scope) factors_of_[each].push_back(factors_.size());
    factors_.push_back(std::move(factor));
  }

  size_t table_size(const std::vector<uint32_t>& scope) const {
    size_t size = 1;
    for (const uint32_t variable : scope) {
      size *= options(variable);
      if (size > kLargestTable) return size;
    }
    return size;
  }

  // Index in the factor's table of the cost of answer_.
  size_t index(const Factor& factor) const {
    size_t index = 0;
    for (const uint32_t variable : factor.scope)
      index = index * options(variable) + answer_[variable];
    return index;
  }

  // Advances answer_ through the options of `scope`. Returns false after the last.
  bool next(const std::vector<uint32_t>& scope) {
    for (size_t i = scope.size(); i-- > 0;) {
      if (++answer_[scope[i]] < options(scope[i])) return true;
      answer_[scope[i]] = 0;
    }
    return false;
  }

  // A factor that was taken together with another variable has an empty scope.
  std::vector<Factor> take_factors(uint32_t variable) {
    std::vector<Factor> taken;
    for (const size_t index : factors_of_[variable])
      if (!factors_[index].scope.empty()) taken.push_back(std::exchange(factors_[index], {}));
    return taken;
  }

  // Replaces the variable by the cost of its cheapest option for each assignment of its neighbours.
  void eliminate(uint32_t variable) {
    const std::vector<uint32_t> scope = take_out(variable);
    if (table_size(scope) > kLargestTable) return decide_alone(variable);
    join(scope);
    const std::vector<Factor> factors = take_factors(variable);
    Factor costs{scope, {}}, decision{scope, {}};
    for (const uint32_t neighbour : scope) answer_[neighbour] = 0;
    do {
      uint64_t least = std::numeric_limits<uint64_t>::max(), best = 0;
      for (uint32_t option = 0; option < options(variable); ++option) {
        answer_[variable] = option;
        uint64_t cost = own_[variable][option];
        for (const Factor& factor : factors) cost += factor.table[index(factor)];
        if (cost < least) {
          least = cost;
          best = option;
        }
      }
      costs.table.push_back(least);
      decision.table.push_back(best);
    } while (next(scope));
    if (!scope.empty()) add(std::move(costs));
    decisions_.emplace_back(variable, std::move(decision));
  }

  // Takes the option that is cheapest by itself. The costs between it and its neighbours become
  // costs of those.
  void decide_alone(uint32_t variable) {
    std::vector<uint64_t> own = own_[variable];
    const std::vector<Factor> factors = take_factors(variable);
    for (const Factor& factor : factors)
      for (size_t i = 0; factor.scope.size() == 1 && i < own.size(); ++i) own[i] += factor.table[i];
    const auto best = static_cast<uint32_t>(std::ranges::min_element(own) - own.begin());
    for (const Factor& factor : factors) {
      if (factor.scope.size() == 1) continue;
      Factor rest;
      for (const uint32_t each : factor.scope)
        if (each != variable) rest.scope.push_back(each);
      for (const uint32_t each : rest.scope) answer_[each] = 0;
      answer_[variable] = best;
      do rest.table.push_back(factor.table[index(factor)]);
      while (next(rest.scope));
      add(std::move(rest));
    }
    decisions_.emplace_back(variable, Factor{{}, {best}});
  }

  const std::vector<std::vector<uint64_t>>& own_;
  std::vector<Factor> factors_;
  std::vector<std::vector<size_t>> factors_of_;  // by variable
  // The variables that are left, by the number of their neighbours.
  std::set<std::pair<size_t, uint32_t>> left_;
  std::vector<std::set<uint32_t>> neighbours_;  // by variable: those that are left in its factors
  std::vector<std::pair<uint32_t, Factor>>
      decisions_;  // the best option, by those of the neighbours
  std::vector<uint32_t> answer_;
};

}  // namespace

std::vector<uint32_t> cheapest(const Problem& problem) {
  return Elimination(problem).run();
}

}  // namespace millrace::device::cpu::plan
