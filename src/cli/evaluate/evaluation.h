// Evaluation counts how often models classify labelled samples correctly (top-1 and top-K
// accuracy), and how closely each model agrees with the first. One thread at a time may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// The agreement of a model with the first one.
struct Agreement {
  size_t same_top1 = 0;
  double cosine_sum = 0;  // sum over all samples of the cosine similarity of the scores
  double cosine_least = 1;
  std::string least_sample;  // the first sample that has the least cosine
};

struct ModelResult {
  size_t top1 = 0;  // samples whose class ranks first
  size_t top = 0;   // samples whose class is one of the first K
  Agreement agreement;
};

class Evaluation {
 public:
  // `top` is K. `labels` are the classes of the samples, in order; without them, models are only
  // compared with the first one.
  Evaluation(size_t models, uint32_t top, std::optional<std::vector<size_t>> labels);

  // Adds the scores of a model for its next sample. A model may be any number of samples ahead of
  // others. kInvalidArgument, with the sample, if there are fewer than two scores, a label is not
  // less than their number, or their number differs from that of earlier samples.
  Status add(size_t model, const std::string& sample, std::vector<float> scores);

  size_t samples() const noexcept { return samples_; }  // samples that all models have had
  size_t classes() const noexcept { return classes_; }  // 0 before the first sample
  const std::vector<ModelResult>& results() const noexcept { return results_; }

 private:
  struct Scored {
    std::string sample;
    std::vector<float> scores;
  };

  Status check(const Scored& scored);
  // Counts the oldest sample in `ahead_`, which all models have had.
  void settle();
  void count(const Scored& scored, ModelResult& result) const;

  uint32_t top_;
  std::optional<std::vector<size_t>> labels_;
  size_t samples_ = 0;
  size_t classes_ = 0;
  std::vector<ModelResult> results_;
  std::vector<std::deque<Scored>> ahead_;  // by model: samples that another model has not had yet
};

}  // namespace millrace::cli
