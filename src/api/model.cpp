#include "millrace/model.hpp"

#include <utility>

#include "api/model_impl.h"

namespace millrace {
namespace {

ViewInfo view_info(const tensor::TensorDesc& desc, bool open) {
  return {.type = desc.type,
          .layout = desc.layout,
          .order = desc.order,
          .shape = desc.shape,
          .elements = open ? 0 : desc.elements(),
          .bytes = open ? 0 : desc.bytes(),
          .is_open = open};
}

std::vector<TensorInfo> tensor_infos(const std::vector<graph::Boundary>& boundaries) {
  std::vector<TensorInfo> infos;
  for (const graph::Boundary& boundary : boundaries) {
    TensorInfo& info = infos.emplace_back();
    info.name = boundary.cpu.name;
    info.cpu = view_info(boundary.cpu, boundary.open);
    if (boundary.hw) info.hw = view_info(*boundary.hw, boundary.open);
    info.scale = boundary.quant.scale;
    info.zero_point = boundary.quant.zero_point;
  }
  return infos;
}

}  // namespace

Model::Impl::Impl(std::shared_ptr<runtime::Executor> executor, std::string note,
                  bool strict_zero_copy)
    : executor_(std::move(executor)),
      note_(std::move(note)),
      strict_zero_copy_(strict_zero_copy),
      inputs_(tensor_infos(executor_->model().inputs)),
      outputs_(tensor_infos(executor_->model().outputs)) {}

const std::string& Model::name() const noexcept {
  return impl_->executor()->model().name;
}
uint32_t Model::batch_size() const noexcept {
  return impl_->executor()->model().batch_size;
}
std::span<const TensorInfo> Model::inputs() const noexcept {
  return impl_->inputs();
}
std::span<const TensorInfo> Model::outputs() const noexcept {
  return impl_->outputs();
}
const std::string& Model::note() const noexcept {
  return impl_->note();
}

}  // namespace millrace
