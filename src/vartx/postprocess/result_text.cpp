#include "vartx/postprocess/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace millrace::vartx {
namespace {

using ::vart::InferResultType;

// The lists of a result that a registered function has made may differ in length.
void append(std::string& text, uint32_t frame, const ::vart::ClassificationResData& classes) {
  const size_t count =
      std::min({classes.index.size(), classes.label.size(), classes.confidence.size()});
  for (size_t i = 0; i < count; ++i)
    fmt::format_to(std::back_inserter(text), "frame {}: class {} \"{}\" {:.4g}\n", frame,
                   classes.index[i], classes.label[i], classes.confidence[i]);
}

void append(std::string& text, uint32_t frame, const ::vart::DetectionResData& box) {
  fmt::format_to(std::back_inserter(text), "frame {}: box {},{} {}x{} class {} \"{}\" {:.4g}\n",
                 frame, box.x, box.y, box.width, box.height, box.class_id, box.label,
                 box.confidence);
}

void append(std::string& text, uint32_t frame, const ::vart::SegmentationResData& maps) {
  for (size_t i = 0; i < std::min(maps.width.size(), maps.height.size()); ++i)
    fmt::format_to(std::back_inserter(text), "frame {}: map {} {}x{}\n", frame, i, maps.width[i],
                   maps.height[i]);
}

}  // namespace

std::string result_text(uint32_t frame, ::vart::InferResult& result) {
  std::string text;
  const ::vart::InferResultData* data = result.get_infer_result();
  if (data == nullptr) return text;
  switch (data->result_type) {
    case InferResultType::CLASSIFICATION:
      append(text, frame, static_cast<const ::vart::ClassificationResData&>(*data));
      break;
    case InferResultType::DETECTION:
      append(text, frame, static_cast<const ::vart::DetectionResData&>(*data));
      break;
    case InferResultType::SEGMENTATION:
      append(text, frame, static_cast<const ::vart::SegmentationResData&>(*data));
      break;
    default:
      break;
  }
  return text;
}

}  // namespace millrace::vartx
