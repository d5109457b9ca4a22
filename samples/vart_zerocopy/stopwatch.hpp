// How long the stages of a frame take.
#pragma once

#include <chrono>

struct StageTimes {
  double preprocess = 0;  // milliseconds, as all
  double infer = 0;
  double postprocess = 0;

  double total() const { return preprocess + infer + postprocess; }
};

// Adds to `milliseconds` how long the call takes.
template <class Stage>
void timed(double& milliseconds, Stage&& stage) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  stage();
  milliseconds += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}
