// The search for the layers that must keep a higher precision, so that a network computes its
// outputs as exactly as is wanted.
//
// It knows neither precisions nor networks: a layer is a number of the caller's, and the caller
// compiles and measures. Any thread may call it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"

namespace millrace::quantise {

// Compiles with these layers, and no others, in the higher precision, runs the program, and returns
// the error of its outputs, 0 for none. They come in no particular order. A NaN is worse than any
// number.
using MeasureError = std::function<Result<double>(std::span<const uint32_t> kept)>;

struct KeptLayers {
  std::vector<uint32_t> layers;  // in the higher precision, worst first
  double error = 0;              // measured with exactly these
  bool target_holds = false;
};

// Keeps as few of the first `ranked` layers as make the error at most `target`. `ranked` has each
// candidate once, the one whose precision hurts most first; the layers that it does not list are
// never kept. Where even all of them do not reach the target, all are kept and target_holds is
// false.
//
// Measures about log2(ranked.size()) + 2 times: the number of layers is found by bisection, as if
// the error fell with each layer that is kept. Where it does not, more layers may be kept than
// needed; but what is returned was measured. Fails as soon as `measure` fails.
Result<KeptLayers> keep_worst(std::span<const uint32_t> ranked, double target,
                              const MeasureError& measure);

}  // namespace millrace::quantise
