#include "vart/vart_metaconvert.hpp"

#include <stdexcept>
#include <utility>

#include "base/float_environment.h"
#include "vartx/overlay/metaconvert_config.h"
#include "vartx/overlay/overlay_shapes.h"
#include "vartx/results/infer_result_impl.h"

namespace vart {

using millrace::vartx::MetaConvertConfig;
using millrace::vartx::OverlayShapes;

class MetaConvertImplBase {
 public:
  MetaConvertImplBase(MetaConvertConfig config, std::shared_ptr<Device> device)
      : config(std::move(config)), device(std::move(device)) {}

  const MetaConvertConfig config;
  const std::shared_ptr<Device> device;
};

namespace {

void add_result(const MetaConvertConfig& config, InferResult& node, int64_t level,
                OverlayShapes& shapes) {
  if (!config.shows_level(level)) return;
  InferResultImplBase& result = *node.get_pimpl_handle();
  if (const auto* classes = std::get_if<ClassificationResData>(&result.data))
    shapes.add(*classes, level);
  if (const auto* box = std::get_if<DetectionResData>(&result.data)) shapes.add(*box, level);
  if (const auto* maps = std::get_if<SegmentationResData>(&result.data))
    shapes.add(*maps, result.scale, level);
}

}  // namespace

MetaConvert::MetaConvert(InferResultType, std::string& json_data, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MetaConvertImplBase>(
          millrace::vartx::read_metaconvert_config(millrace::vartx::JsonConfig::parse(json_data)),
          std::move(device))) {}

std::shared_ptr<OverlayShapeInfo> MetaConvert::prepare_overlay_meta(
    // NOLINTNEXTLINE(performance-unnecessary-value-param): the published signature.
    std::shared_ptr<InferResult> root) {
  const millrace::DefaultFloatEnvironment floats;
  if (root == nullptr) throw std::invalid_argument("prepare_overlay_meta: the root is null");
  const auto shapes = std::make_shared<OverlayShapes>(impl_->config);
  // Results count from level 1, also where a program passes one without a root above it.
  const bool is_root = root->get_infer_result() == nullptr;
  const size_t above = root->get_depth();
  root->traverse(
      [&](const std::shared_ptr<InferResult>& node, void*) {
        add_result(impl_->config, *node,
                   static_cast<int64_t>(node->get_depth() - above + (is_root ? 0 : 1)), *shapes);
      },
      TraversalOrder::PREORDER, nullptr);
  // An aliasing pointer: the shapes point to texts in the same object, which it keeps alive.
  return {shapes, &shapes->info()};
}

}  // namespace vart
