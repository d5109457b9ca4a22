// Chooses the next token from the logits of a decoder. Thread-safe, as long as each generator is
// used by one thread.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace millrace::decoder {

// Returns the token with the largest logit; the first of equal ones. Requirement: there is one.
int64_t most_likely(std::span<const float> logits);

// Draws a token from the most likely ones whose probabilities sum up to `top_p` (nucleus sampling).
// Logits are divided by `temperature` first. Requirement: 0 < top_p <= 1 and temperature > 0.
int64_t draw(std::span<const float> logits, float top_p, float temperature, std::mt19937& random);

}  // namespace millrace::decoder
