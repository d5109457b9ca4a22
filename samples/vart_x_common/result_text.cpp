#include "vart_x_common/result_text.hpp"

#include <ostream>

namespace samples {
namespace {

void print(std::ostream& out, const vart::ClassificationResData& classes) {
  for (size_t i = 0; i < classes.index.size(); ++i)
    out << "classification: label=\"" << classes.label[i] << "\" index=" << classes.index[i]
        << " score=" << classes.confidence[i] << "\n";
}

void print(std::ostream& out, const vart::DetectionResData& box) {
  out << "detection: label=\"" << box.label << "\" class=" << box.class_id
      << " score=" << box.confidence << " x=" << box.x << " y=" << box.y << " width=" << box.width
      << " height=" << box.height << "\n";
}

void print(std::ostream& out, const vart::SegmentationResData& maps) {
  for (size_t i = 0; i < maps.numOutputs; ++i)
    out << "segmentation: " << maps.width[i] << "x" << maps.height[i] << "\n";
}

}  // namespace

void print_result(std::ostream& out, vart::InferResult& result) {
  const vart::InferResultData* const data = result.get_infer_result();
  if (data == nullptr) return;
  switch (data->result_type) {
    case vart::InferResultType::CLASSIFICATION:
      return print(out, static_cast<const vart::ClassificationResData&>(*data));
    case vart::InferResultType::DETECTION:
      return print(out, static_cast<const vart::DetectionResData&>(*data));
    case vart::InferResultType::SEGMENTATION:
      return print(out, static_cast<const vart::SegmentationResData&>(*data));
    default:
      return;
  }
}

}  // namespace samples
