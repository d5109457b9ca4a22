// InferResultImplBase: the content of a node of a result tree. Postprocessing creates it, and
// MetaConvert reads it. Not thread-safe.
#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "vart/vart_inferresult.hpp"

namespace vart {

class InferResultImplBase {
 public:
  using Data =
      std::variant<InferResultData, ClassificationResData, DetectionResData, SegmentationResData>;

  InferResultImplBase(InferResultType type, Data data) : data(std::move(data)) {
    base().result_type = type;
  }

  InferResultData& base() {
    return std::visit([](InferResultData& result) -> InferResultData& { return result; }, data);
  }

  Data data;
  std::vector<std::shared_ptr<InferResult>> children;
  std::weak_ptr<InferResult> parent;
  // For a segmentation: the position of its maps on the frame, set by InferResult::transform().
  InferResScaleInfo scale;
};

}  // namespace vart

namespace millrace::vartx {

// Returns a node without parent and children.
inline std::shared_ptr<::vart::InferResult> make_result(::vart::InferResultType type,
                                                        ::vart::InferResultImplBase::Data data) {
  return std::make_shared<::vart::InferResult>(
      std::make_shared<::vart::InferResultImplBase>(type, std::move(data)));
}

}  // namespace millrace::vartx
