#include "cli/evaluate/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/compare/cosine.h"
#include "cli/evaluate/scores.h"

namespace millrace::cli {

Evaluation::Evaluation(size_t models, uint32_t top, std::optional<std::vector<size_t>> labels)
    : top_(top), labels_(std::move(labels)), results_(models), ahead_(models) {}

Status Evaluation::check(const Scored& scored) {
  const size_t count = scored.scores.size();
  if (count < 2)
    return invalid_argument(
        fmt::format("{}: {} scores, but a classifier has one for each of at least two classes",
                    scored.sample, count));
  if (classes_ != 0 && count != classes_)
    return invalid_argument(fmt::format("{}: {} scores, but other samples or models have {}",
                                        scored.sample, count, classes_));
  classes_ = count;
  return {};
}

Status Evaluation::add(size_t model, const std::string& sample, std::vector<float> scores) {
  Scored scored{sample, std::move(scores)};
  MILLRACE_RETURN_IF_ERROR(check(scored));
  const size_t index = samples_ + ahead_[model].size();
  if (labels_ && (*labels_)[index] >= classes_)
    return invalid_argument(fmt::format("{} has class {}, but the model has {} classes, from 0",
                                        sample, (*labels_)[index], classes_));
  ahead_[model].push_back(std::move(scored));
  if (std::ranges::none_of(ahead_, [](const auto& samples) { return samples.empty(); })) settle();
  return {};
}

void Evaluation::count(const Scored& scored, ModelResult& result) const {
  const Scored& first = ahead_.front().front();
  if (labels_) {
    const size_t rank = rank_of(scored.scores, (*labels_)[samples_]);
    result.top1 += rank == 0 ? 1 : 0;
    result.top += rank < top_ ? 1 : 0;
  }
  Agreement& agreement = result.agreement;
  agreement.same_top1 +=
      quantise::best_class(scored.scores) == quantise::best_class(first.scores) ? 1 : 0;
  const double cosine = cosine_of(scored.scores, first.scores);
  agreement.cosine_sum += cosine;
  if (samples_ > 0 && cosine >= agreement.cosine_least) return;
  agreement.cosine_least = cosine;
  agreement.least_sample = scored.sample;
}

void Evaluation::settle() {
  for (size_t model = 0; model < results_.size(); ++model)
    count(ahead_[model].front(), results_[model]);
  for (std::deque<Scored>& samples : ahead_) samples.pop_front();
  ++samples_;
}

}  // namespace millrace::cli
