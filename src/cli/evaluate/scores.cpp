#include "cli/evaluate/scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace millrace::cli {

Result<size_t> score_output(const graph::CompiledModel& model, const std::string& name) {
  std::vector<std::string> names;
  std::vector<size_t> fitting;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const graph::Boundary& output = model.outputs[i];
    const bool fits = output.open || quantise::may_hold_scores(output.cpu);
    if (name.empty() ? fits : output.cpu.name == name) fitting.push_back(i);
    names.push_back(output.cpu.name);
  }
  if (fitting.size() == 1) return fitting.front();
  if (!name.empty())
    return invalid_argument(
        fmt::format("--output {}: the model's outputs are {}", name, fmt::join(names, ", ")));
  return invalid_argument(
      fmt::format("{} of the outputs ({}) {} a score for each class: choose {} with --output",
                  fitting.empty() ? "none" : "several", fmt::join(names, ", "),
                  fitting.empty() ? "has the shape of" : "may hold",
                  fitting.empty() ? "the one that has them nevertheless" : "one"));
}

size_t rank_of(std::span<const float> scores, size_t label) {
  size_t rank = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    rank += quantise::ranks_before(scores, i, label) ? 1 : 0;
  return rank;
}

}  // namespace millrace::cli
