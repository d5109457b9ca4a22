// Searches for the layers to keep in a higher precision so that the outputs of a model meet an
// accuracy target: a bisection over the length of a prefix of layers ranked by sensitivity.
//
// It is independent of models and precisions: a layer is an index that the caller defines, and the
// caller compiles and measures. Thread-safe if `measure` is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"

namespace millrace::quantise {

// Compiles the model with exactly these layers in the higher precision, runs it, and returns the
// error of its outputs; 0 means none. A NaN counts as a target that does not hold.
using MeasureError = std::function<Result<double>(std::span<const uint32_t> kept)>;

struct KeptLayers {
  std::vector<uint32_t> layers;  // in the higher precision: the first of `ranked`, in its order
  double error = 0;              // measured with exactly these layers
  bool target_holds = false;
};

// Finds the least number of leading layers of `ranked` with which the error is at most `target`.
// `ranked` has each candidate once, in descending order of the loss that its lower precision
// causes; layers that it does not list are never kept. If the target is missed even with all
// candidates, all are kept and target_holds is false.
//
// Measures about log2(ranked.size()) + 2 times. The bisection assumes that the error falls with
// each further layer that is kept. If it does not, more layers than needed may be kept, but the
// error of the result was measured. Fails as soon as `measure` fails.
Result<KeptLayers> keep_worst(std::span<const uint32_t> ranked, double target,
                              const MeasureError& measure);

}  // namespace millrace::quantise
