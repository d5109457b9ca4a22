// Evaluation: how often models are right on labelled samples, and how close each one is to the
// first of them. Used by one thread at a time.
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
  double cosine_sum = 0;  // sum over all samples of the cosine of their scores
  double cosine_least = 1;
  std::string least_sample;  // the first one that has it
};

struct ModelResult {
  size_t top1 = 0;  // samples whose class ranks first
  size_t top = 0;   // samples whose class is one of the first few
  Agreement agreement;
};

class Evaluation {
 public:
  // `top` classes count for ModelResult::top. Samples without labels are only compared with what
  // the first model says.
  Evaluation(size_t models, uint32_t top, std::optional<std::vector<size_t>> labels);

  // The scores of a model for its next sample; models need not go in step. kInvalidArgument names
  // the sample for fewer than two scores, for a label beyond them, and for another number of scores
  // than those before.
  Status add(size_t model, const std::string& sample, std::vector<float> scores);

  size_t samples() const noexcept { return samples_; }  // that all models have had
  size_t classes() const noexcept { return classes_; }  // 0 before the first sample
  const std::vector<ModelResult>& results() const noexcept { return results_; }

 private:
  struct Scored {
    std::string sample;
    std::vector<float> scores;
  };

  Status check(const Scored& scored);
  // Counts the sample that all models have had last.
  void settle();
  void count(const Scored& scored, ModelResult& result) const;

  uint32_t top_;
  std::optional<std::vector<size_t>> labels_;
  size_t samples_ = 0;
  size_t classes_ = 0;
  std::vector<ModelResult> results_;
  std::vector<std::deque<Scored>> ahead_;  // by model: samples that others have not had yet
};

}  // namespace millrace::cli
