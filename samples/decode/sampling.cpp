#include "samples/decode/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace millrace::decoder {

int64_t most_likely(std::span<const float> logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

int64_t draw(std::span<const float> logits, float top_p, float temperature, std::mt19937& random) {
  std::vector<int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto logit = [&](int64_t token) { return logits[static_cast<size_t>(token)]; };
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](int64_t a, int64_t b) { return logit(a) > logit(b); });

  // Probabilities up to a common factor, in descending order.
  std::vector<double> weights;
  for (const int64_t token : tokens)
    weights.push_back(std::exp(double{logit(token) - logit(tokens.front())} / temperature));
  const double enough = top_p * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  size_t kept = 0;
  while (kept < weights.size() && sum < enough) sum += weights[kept++];

  // The generator's own numbers are the same with every standard library.
  double rest = sum * (random() * 0x1p-32);
  size_t chosen = 0;
  while (chosen + 1 < kept && rest >= weights[chosen]) rest -= weights[chosen++];
  return tokens[chosen];
}

}  // namespace millrace::decoder
