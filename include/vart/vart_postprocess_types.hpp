// VART-X postprocessing: which functions there are, and descriptions of the tensors they read.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_POSTPROCESS_TYPES_HPP
#define VART_VART_POSTPROCESS_TYPES_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace vart {

enum class TensorDataType { INT8, FLOAT32, BF16, FP16, UNKNOWN };

enum class TensorDataDirection { INPUT, OUTPUT };

// One tensor of a model: one frame's part of it, so N in the shape is 1. Values of INT8 tensors
// count as v * scale_coeff, of others as they are. A tensor whose direction an older program does
// not set is an output.
struct TensorInfo {
  uint32_t size = 0;  // bytes
  float scale_coeff = 1;
  std::vector<uint32_t> shape;
  std::string name;
  TensorDataType data_type = TensorDataType::UNKNOWN;
  TensorDataDirection direction = TensorDataDirection::OUTPUT;
  std::string memory_layout;  // the name of a vart::MemoryLayout; may be empty
};

// The order of the first three is published; programs use names.
enum class PostProcessType {
  RESNET50,
  YOLOV2,
  SSDRESNET34,
  ARGMAX,
  BIAS_CORRECTION,
  CALIBRATION_PLATT,
  CALIBRATION_TEMPERATURE,
  LABEL_MAPPING,
  NORMALIZATION,
  OUTLIER_DETECTION,
  SOFTMAX,
  THRESHOLD,
  TOPK,
  UNCERTAINTY_ESTIMATION,
  DISTANCE_IOU_NMS,
  SOFT_NMS,
  CLASSWISE_NMS,
  OBJECT_COUNT,
  NMS,
  ANCHOR_ADJUSTMENT,
  SOFTMAXSEG,
  SIGMOIDSEG,
  ARGMAXSEG,
  UNKNOWN
};

}  // namespace vart

#endif  // VART_VART_POSTPROCESS_TYPES_HPP
