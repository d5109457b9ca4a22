#include "vartx/postprocess/postprocess_function.h"

#include <stdexcept>

namespace millrace::vartx {

std::unique_ptr<PostProcessFunction> make_function(::vart::PostProcessType type,
                                                   const PostProcessConfig& config,
                                                   const ModelTensors& tensors) {
  switch (kind_of(type)) {
    case ResultKind::kClassification:
      return make_classification(type, config, tensors);
    case ResultKind::kDetection:
      return make_detection(type, config, tensors);
    case ResultKind::kSegmentation:
      return make_segmentation(type, config, tensors);
    case ResultKind::kNone:
      break;
  }
  throw std::invalid_argument("PostProcess: the type has no function");
}

}  // namespace millrace::vartx
