// Postprocessing of classifiers: softmax, calibration (Platt scaling, temperature scaling), bias
// correction and other transformations of the scores, then a selection of classes by rank or
// threshold. Gives one result per output tensor and frame. vision/postprocess/scores.h implements
// the functions.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "vartx/postprocess/postprocess_function.h"
#include "vartx/results/infer_result_impl.h"
#include "vision/postprocess/scores.h"

namespace millrace::vartx {
namespace {

using ::vart::PostProcessType;
using vision::RankedClass;
using Ranking = std::vector<RankedClass>;

// Returns the best class. Its score is the entropy of the softmax of all scores.
Ranking uncertainty(std::span<float> scores) {
  vision::softmax(scores);
  Ranking best = vision::top_classes(scores, 1);
  for (RankedClass& one : best) one.score = vision::entropy(scores);
  return best;
}

Ranking rank(PostProcessType type, const PostProcessConfig& config, std::span<float> scores) {
  switch (type) {
    case PostProcessType::ARGMAX:
      return vision::top_classes(scores, 1);
    case PostProcessType::OUTLIER_DETECTION:
      return vision::outliers(scores, config.outlier_threshold, config.top_k);
    case PostProcessType::THRESHOLD:
      return vision::classes_from(scores, config.threshold, config.top_k);
    case PostProcessType::UNCERTAINTY_ESTIMATION:
      return uncertainty(scores);
    case PostProcessType::RESNET50:
    case PostProcessType::SOFTMAX:
      vision::softmax(scores);
      break;
    case PostProcessType::NORMALIZATION:
      vision::normalise(scores);
      break;
    case PostProcessType::BIAS_CORRECTION:
      vision::subtract_bias(scores, config.bias);
      [[fallthrough]];
    case PostProcessType::CALIBRATION_PLATT:
      vision::calibrate_platt(scores, config.platt_a, config.platt_b);
      break;
    case PostProcessType::CALIBRATION_TEMPERATURE:
      vision::calibrate_temperature(scores, config.temperature);
      break;
    default:  // TOPK and LABEL_MAPPING do not change the scores
      break;
  }
  return vision::top_classes(scores, config.top_k);
}

// Returns how many elements of an output are classes. The shape [1, ceil(C / B), 1, 1, B] of a
// blocked HW view contains up to B - 1 elements of padding at its end and does not state C. If
// there are labels for all elements but fewer than B, their number is taken for C.
size_t count_classes(const PostProcessConfig& config, const ::vart::TensorInfo& output) {
  const size_t elements = elements_of(output);
  const std::vector<uint32_t>& shape = output.shape;
  const bool is_blocked = shape.size() == 5 && shape[0] == 1 && shape[2] == 1 && shape[3] == 1;
  const size_t labels = config.labels.count();
  const bool tells = is_blocked && labels < elements && elements - labels < shape[4];
  return tells ? labels : elements;
}

class Classification : public PostProcessFunction {
 public:
  Classification(PostProcessType type, const PostProcessConfig& config,
                 std::vector<size_t> class_counts)
      : type_(type), config_(config), class_counts_(std::move(class_counts)) {}

  FrameResults process(std::span<const std::span<float>> outputs) const override {
    FrameResults results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::span<float> scores = outputs[i].first(class_counts_[i]);
      ::vart::ClassificationResData data;
      for (const RankedClass& one : rank(type_, config_, scores)) {
        data.label.push_back(config_.labels.of(one.index));
        data.confidence.push_back(one.score);
        data.index.push_back(one.index);
      }
      results.push_back(make_result(::vart::InferResultType::CLASSIFICATION, std::move(data)));
    }
    return results;
  }

 private:
  const PostProcessType type_;
  const PostProcessConfig& config_;
  const std::vector<size_t> class_counts_;  // number of classes of each output
};

void check_bias(const PostProcessConfig& config, const ::vart::TensorInfo& output, size_t classes) {
  if (!config.bias.empty() && config.bias.size() != classes)
    throw std::invalid_argument(fmt::format("{}: \"bias\" has {} values for {} classes",
                                            title_of(output), config.bias.size(), classes));
}

}  // namespace

std::unique_ptr<PostProcessFunction> make_classification(PostProcessType type,
                                                         const PostProcessConfig& config,
                                                         const ModelTensors& tensors) {
  std::vector<size_t> class_counts;
  for (const ::vart::TensorInfo& output : tensors.outputs) {
    class_counts.push_back(count_classes(config, output));
    check_bias(config, output, class_counts.back());
  }
  return std::make_unique<Classification>(type, config, std::move(class_counts));
}

}  // namespace millrace::vartx
