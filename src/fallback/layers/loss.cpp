// Losses of classifiers: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Scores are [N, C,
// d1, d2, ...], labels [N, d1, d2, ...]. Sums are computed in double. The mean is weighted by the
// weights of the labels, and ignored labels do not count.
#include <fmt/format.h>

#include <cmath>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

Dims shape_of_labels(const TensorView& scores) {
  Dims dims = to_dims(scores.dims);
  dims.erase(dims.begin() + 1);
  return dims;
}

Status check_operands(const Inference& node) {
  const TensorView &scores = node.in(0), &labels = node.in(1);
  if (scores.rank() < 2 || scores.dims[1] == 0) return invalid_argument("scores have no classes");
  if (!kIndexTypes.contains(labels.type)) return invalid_argument("labels must be INT32 or INT64");
  if (to_dims(labels.dims) != shape_of_labels(scores))
    return invalid_argument("labels must have the shape of the scores without the classes");
  if (!node.has(2)) return {};
  const bool fits = node.in(2).type == scores.type && node.in(2).rank() == 1 &&
                    node.in(2).dims[0] == scores.dims[1];
  return fits ? Status()
              : invalid_argument("weights must have one element per class, of the scores' type");
}

Status shape_of_loss(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_operands(node));
  const std::string reduction = node.text("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return invalid_argument(fmt::format("unknown reduction '{}'", reduction));
  const TensorView& scores = node.in(0);
  node.set(0, scores.type, reduction == "none" ? shape_of_labels(scores) : Dims{});
  node.set(1, scores.type, to_dims(scores.dims));
  return {};
}

// Computes the losses of single labels and their reduction.
class LossSum {
 public:
  LossSum(const Call& call, size_t classes) : call_(call), classes_(classes) {
    ignored_ = call.integer("ignore_index", -1);
    // ignore_index may be any integer, so its presence is recorded separately.
    for (const graph::Attribute& attribute : call.op().attributes)
      has_ignored_ = has_ignored_ || attribute.name == "ignore_index";
    each_ = call.text("reduction", "mean") == "none";
    mean_ = call.text("reduction", "mean") == "mean";
  }

  // Adds the loss of one label. `log_of` returns the log-probability of a class.
  template <class T, class LogOf>
  Status add(size_t position, LogOf&& log_of) {
    const int64_t label = index_at(call_.in(1), position);
    if (has_ignored_ && label == ignored_) {
      if (each_) call_.out(0).as<T>()[position] = 0;
      return {};
    }
    if (label < 0 || static_cast<size_t>(label) >= classes_)
      return invalid_argument(fmt::format("label {} is not one of {} classes", label, classes_));
    const auto index = static_cast<size_t>(label);
    const double weight = call_.has(2) ? call_.in(2).as<T>()[index] : 1;
    const double loss = -log_of(index) * weight;
    if (each_) call_.out(0).as<T>()[position] = static_cast<T>(loss);
    sum_ += loss;
    weights_ += weight;
    return {};
  }

  template <class T>
  void finish() const {
    if (!each_) call_.out(0).as<T>()[0] = static_cast<T>(mean_ ? sum_ / weights_ : sum_);
  }

 private:
  const Call& call_;
  size_t classes_;
  int64_t ignored_ = 0;
  bool has_ignored_ = false, each_ = false, mean_ = false;
  double sum_ = 0, weights_ = 0;
};

Status negative_log_likelihood(const Call& call) {
  const AxisSplit split(call.in(0).dims, 1);
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    LossSum losses(call, split.size);
    for (size_t line = 0; line < split.lines(); ++line) {
      const T* scores = call.in(0).as<T>().data() + split.start(line);
      MILLRACE_RETURN_IF_ERROR(losses.add<T>(
          line, [&](size_t index) { return static_cast<double>(scores[index * split.inner]); }));
    }
    losses.finish<T>();
    return {};
  });
}

// Computes log(sum(exp(scores))) of one line without overflow.
template <class T>
double log_sum_exp(const T* scores, const AxisSplit& split) {
  double largest = scores[0];
  for (size_t i = 1; i < split.size; ++i)
    largest = std::max(largest, static_cast<double>(scores[i * split.inner]));
  double sum = 0;
  for (size_t i = 0; i < split.size; ++i) sum += std::exp(scores[i * split.inner] - largest);
  return largest + std::log(sum);
}

Status softmax_cross_entropy(const Call& call) {
  const AxisSplit split(call.in(0).dims, 1);
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    LossSum losses(call, split.size);
    for (size_t line = 0; line < split.lines(); ++line) {
      const T* scores = call.in(0).as<T>().data() + split.start(line);
      const double total = log_sum_exp(scores, split);
      MILLRACE_RETURN_IF_ERROR(
          losses.add<T>(line, [&](size_t index) { return scores[index * split.inner] - total; }));
      if (call.output_count() < 2) continue;
      T* logs = call.out(1).as<T>().data() + split.start(line);
      for (size_t i = 0; i < split.size; ++i)
        logs[i * split.inner] = static_cast<T>(scores[i * split.inner] - total);
    }
    losses.finish<T>();
    return {};
  });
}

constexpr AttributeSpec kLoss[] = {{"ignore_index", AttributeKind::kInteger},
                                   {"reduction", AttributeKind::kText}};

}  // namespace

std::span<const OperatorSpec> loss_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"NegativeLogLikelihoodLoss",
       12,
       {2, 3},
       {},
       kReals,
       shape_of_loss,
       negative_log_likelihood,
       kLoss},
      {"SoftmaxCrossEntropyLoss",
       12,
       {2, 3},
       {1, 2},
       kReals,
       shape_of_loss,
       softmax_cross_entropy,
       kLoss},
  };
  return kOperators;
}

}  // namespace millrace::fallback
