#include "vartx/postprocess/postprocess_function.h"

#include <fmt/format.h>

#include <stdexcept>

namespace millrace::vartx {
namespace {

using ::vart::PostProcessType;
using Make = decltype(&make_classification);

// Null for UNKNOWN and numbers that are no type.
Make maker_of(PostProcessType type) {
  switch (type) {
    case PostProcessType::RESNET50:
    case PostProcessType::ARGMAX:
    case PostProcessType::BIAS_CORRECTION:
    case PostProcessType::CALIBRATION_PLATT:
    case PostProcessType::CALIBRATION_TEMPERATURE:
    case PostProcessType::LABEL_MAPPING:
    case PostProcessType::NORMALIZATION:
    case PostProcessType::OUTLIER_DETECTION:
    case PostProcessType::SOFTMAX:
    case PostProcessType::THRESHOLD:
    case PostProcessType::TOPK:
    case PostProcessType::UNCERTAINTY_ESTIMATION:
      return make_classification;
    case PostProcessType::YOLOV2:
    case PostProcessType::SSDRESNET34:
    case PostProcessType::DISTANCE_IOU_NMS:
    case PostProcessType::SOFT_NMS:
    case PostProcessType::CLASSWISE_NMS:
    case PostProcessType::OBJECT_COUNT:
    case PostProcessType::NMS:
    case PostProcessType::ANCHOR_ADJUSTMENT:
      return make_detection;
    case PostProcessType::SOFTMAXSEG:
    case PostProcessType::SIGMOIDSEG:
    case PostProcessType::ARGMAXSEG:
      return make_segmentation;
    case PostProcessType::UNKNOWN:
      break;
  }
  return nullptr;
}

}  // namespace

bool has_function(PostProcessType type) noexcept {
  return maker_of(type) != nullptr;
}

std::unique_ptr<PostProcessFunction> make_function(PostProcessType type,
                                                   const PostProcessConfig& config,
                                                   const ModelTensors& tensors) {
  if (!has_function(type))
    throw std::invalid_argument(
        fmt::format("PostProcess: {} is no type of postprocessing", static_cast<int>(type)));
  return maker_of(type)(type, config, tensors);
}

}  // namespace millrace::vartx
