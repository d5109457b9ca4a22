#include "quantise/measure/scores.h"

#include <algorithm>
#include <cmath>

namespace millrace::quantise {

bool may_hold_scores(const tensor::TensorDesc& cpu) {
  return cpu.elements() > 1 && std::ranges::count(cpu.shape, cpu.elements()) == 1;
}

bool is_classifier(const graph::CompiledModel& model) {
  return model.outputs.size() == 1 && may_hold_scores(model.outputs[0].cpu);
}

bool ranks_before(std::span<const float> scores, size_t a, size_t b) {
  const bool a_nan = std::isnan(scores[a]);
  const bool b_nan = std::isnan(scores[b]);
  if (a_nan != b_nan) return b_nan;
  if (!a_nan && scores[a] != scores[b]) return scores[a] > scores[b];
  return a < b;
}

size_t best_class(std::span<const float> scores) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (ranks_before(scores, i, best)) best = i;
  return best;
}

}  // namespace millrace::quantise
