#include "cli/arguments/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::cli {
namespace {

// Returns the optimal string alignment distance: edits of one letter, and exchanges of neighbours.
size_t distance_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// Returns how far apart the words are. One that begins with the other is one step away, so that
// --calib is nearer to --calibrate than to --scale.
size_t steps_between(std::string_view word, std::string_view candidate) {
  constexpr size_t kLeastInCommon = 3;
  const size_t shorter = std::min(word.size(), candidate.size());
  const bool begins = word.substr(0, shorter) == candidate.substr(0, shorter);
  return shorter >= kLeastInCommon && begins && word != candidate
             ? 1
             : distance_between(word, candidate);
}

}  // namespace

std::string nearest_to(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string_view plain = without_dashes(word);
  // A third of the letters may be wrong, and no fewer than one.
  size_t best = std::max<size_t>(1, plain.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const size_t steps = steps_between(plain, without_dashes(candidate));
    if (steps >= best) continue;
    best = steps;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_to(word, candidates);
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

}  // namespace millrace::cli
