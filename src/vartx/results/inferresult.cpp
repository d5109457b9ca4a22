// vart::InferResult: a tree whose nodes own their children and refer weakly to their parent.
#include "vart/vart_inferresult.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/float_environment.h"
#include "vartx/results/frame_geometry.h"
#include "vartx/results/infer_result_impl.h"

namespace vart {
namespace {

using Visit = std::function<void(std::shared_ptr<InferResult>, void*)>;

InferResultImplBase::Data empty_data(InferResultType type) {
  switch (type) {
    case InferResultType::CLASSIFICATION:
      return ClassificationResData{};
    case InferResultType::DETECTION:
      return DetectionResData{};
    case InferResultType::SEGMENTATION:
      return SegmentationResData{};
    default:
      return InferResultData{};
  }
}

}  // namespace

InferResult::InferResult(InferResultType type)
    : impl_(std::make_shared<InferResultImplBase>(type, empty_data(type))) {}

InferResult::InferResult(std::shared_ptr<InferResultImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("InferResult: the handle is null");
}

void InferResult::transform(InferResScaleInfo& info) {
  const millrace::DefaultFloatEnvironment floats;
  const millrace::vartx::FrameGeometry geometry(info);
  if (auto* box = std::get_if<DetectionResData>(&impl_->data)) geometry.transform(*box);
  if (std::holds_alternative<SegmentationResData>(impl_->data)) impl_->scale = info;
}

InferResultData* InferResult::get_infer_result() {
  InferResultData& data = impl_->base();
  return data.result_type == InferResultType::ROOT ? nullptr : &data;
}

void InferResult::add_child(std::shared_ptr<InferResult> child) {
  if (child == nullptr) throw std::invalid_argument("add_child: the child is null");
  const std::shared_ptr<InferResult> self = shared_from_this();
  for (std::shared_ptr<InferResult> above = self; above != nullptr; above = above->get_parent())
    if (above == child)
      throw std::invalid_argument("add_child: the child is the node itself or above it");
  impl_->children.reserve(impl_->children.size() + 1);  // the following steps cannot fail
  if (const std::shared_ptr<InferResult> former = child->get_parent())
    std::erase(former->impl_->children, child);
  child->impl_->parent = self;
  impl_->children.push_back(std::move(child));
}

void InferResult::add_children(std::vector<std::shared_ptr<InferResult>> children) {
  for (std::shared_ptr<InferResult>& child : children) add_child(std::move(child));
}

std::vector<std::shared_ptr<InferResult>> InferResult::get_children() {
  return impl_->children;
}

std::shared_ptr<InferResult> InferResult::get_parent() {
  return impl_->parent.lock();
}

std::shared_ptr<InferResult> InferResult::get_root() {
  std::shared_ptr<InferResult> root = shared_from_this();
  while (std::shared_ptr<InferResult> above = root->get_parent()) root = std::move(above);
  return root;
}

void InferResult::traverse(const Visit& visit, TraversalOrder order, void* user_data) {
  if (!visit) throw std::invalid_argument("traverse: there is no function to call");
  // A copy, since `visit` may add or remove children.
  const std::vector<std::shared_ptr<InferResult>> children = get_children();
  const size_t before = order == TraversalOrder::PREORDER  ? 0
                        : order == TraversalOrder::INORDER ? std::min<size_t>(1, children.size())
                                                           : children.size();
  for (size_t i = 0; i < before; ++i) children[i]->traverse(visit, order, user_data);
  visit(shared_from_this(), user_data);
  for (size_t i = before; i < children.size(); ++i) children[i]->traverse(visit, order, user_data);
}

size_t InferResult::get_depth() {
  size_t depth = 0;
  for (auto above = get_parent(); above != nullptr; above = above->get_parent()) ++depth;
  return depth;
}

const std::shared_ptr<InferResultImplBase>& InferResult::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
