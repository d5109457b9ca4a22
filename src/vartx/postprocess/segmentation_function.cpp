// Postprocessing of semantic segmentation: for each output tensor a class map, the argmax over the
// channels at each pixel, or with a single channel and SIGMOIDSEG a binary map. Gives one result
// per frame.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/value_or_throw.h"
#include "vartx/postprocess/postprocess_function.h"
#include "vartx/results/infer_result_impl.h"
#include "vision/postprocess/segmentation.h"

namespace millrace::vartx {
namespace {

using ::vart::PostProcessType;
using vision::CellLayout;

std::string layout_of(const PostProcessConfig& config, const ::vart::TensorInfo& output,
                      size_t index) {
  const std::vector<std::string>& given = config.model.output_layouts;
  if (!given.empty()) return given[std::min(index, given.size() - 1)];
  return output.memory_layout == "NCHW" ? "NCHW" : "NHWC";
}

CellLayout map_layout(const ::vart::TensorInfo& output, const std::string& name) {
  const CellLayout layout =
      value_or_throw(vision::cell_layout(output.shape, name), title_of(output));
  if (!layout.is_map)
    throw std::invalid_argument(fmt::format(
        "{}: a class map needs height and width, but layout {} has none", title_of(output), name));
  if (layout.channels > vision::kMostMapClasses)
    throw std::invalid_argument(fmt::format("{}: {} classes exceed the range of 16 bits",
                                            title_of(output), layout.channels));
  return layout;
}

class Segmentation : public PostProcessFunction {
 public:
  Segmentation(PostProcessType type, std::vector<CellLayout> layouts)
      : type_(type), layouts_(std::move(layouts)) {}

  FrameResults process(std::span<const std::span<float>> outputs) const override {
    ::vart::SegmentationResData data;
    data.numOutputs = layouts_.size();
    for (size_t i = 0; i < layouts_.size(); ++i) {
      data.width.push_back(layouts_[i].columns);
      data.height.push_back(layouts_[i].rows);
      data.class_map.push_back(map_of(outputs[i], layouts_[i]));
    }
    return {make_result(::vart::InferResultType::SEGMENTATION, std::move(data))};
  }

 private:
  std::vector<uint16_t> map_of(std::span<const float> scores, const CellLayout& layout) const {
    const bool binary = type_ == PostProcessType::SIGMOIDSEG && layout.channels == 1;
    return binary ? vision::binary_map(scores, layout) : vision::class_map(scores, layout);
  }

  const PostProcessType type_;
  const std::vector<CellLayout> layouts_;
};

}  // namespace

std::unique_ptr<PostProcessFunction> make_segmentation(PostProcessType type,
                                                       const PostProcessConfig& config,
                                                       const ModelTensors& tensors) {
  std::vector<CellLayout> layouts;
  for (size_t i = 0; i < tensors.outputs.size(); ++i)
    layouts.push_back(map_layout(tensors.outputs[i], layout_of(config, tensors.outputs[i], i)));
  return std::make_unique<Segmentation>(type, std::move(layouts));
}

}  // namespace millrace::vartx
