#include "vart/tensors/tensor_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "base/printable.h"

namespace millrace::vartml {

::vart::NpuTensorInfo make_tensor_info(const tensor::TensorDesc& desc,
                                       ::vart::TensorDirection direction, ::vart::TensorType type) {
  ::vart::NpuTensorInfo info;
  info.name = desc.name;
  // The enumerations of the core and of the API have the same values.
  info.data_type = static_cast<::vart::DataType>(desc.type);
  info.direction = direction;
  info.tensor_type = type;
  info.memory_layout = static_cast<::vart::MemoryLayout>(desc.layout);
  info.memory_layout_order = desc.order;
  info.size = desc.elements();
  info.size_in_bytes = desc.bytes();
  info.shape = desc.shape;
  info.strides = desc.strides();
  if (desc.shape.empty()) {
    info.memory_layout_order = {0};
    info.shape = info.strides = {1};
  }
  return info;
}

const char* name_of_side(::vart::TensorDirection direction) noexcept {
  return direction == ::vart::TensorDirection::INPUT ? "input" : "output";
}

const char* missing_in(const ::vart::NpuTensorInfo& info) noexcept {
  if (info.name.empty()) return "name";
  if (info.data_type == ::vart::DataType::UNKNOWN) return "data_type";
  if (info.memory_layout == ::vart::MemoryLayout::UNKNOWN) return "memory_layout";
  if (info.memory_layout == ::vart::MemoryLayout::GENERIC && info.memory_layout_order.empty())
    return "memory_layout_order";
  if (info.size == 0) return "size";
  if (info.size_in_bytes == 0) return "size_in_bytes";
  if (info.shape.empty()) return "shape";
  if (info.strides.empty()) return "strides";
  return nullptr;
}

}  // namespace millrace::vartml

void vart::NpuTensorInfo::print() const {
  std::cout << fmt::format(
      "name                : {}\n"
      "data_type           : {}\n"
      "direction           : {}\n"
      "tensor_type         : {}\n"
      "memory_layout       : {}\n"
      "memory_layout_order : [{}]\n"
      "size                : {}\n"
      "size_in_bytes       : {}\n"
      "shape               : [{}]\n"
      "strides             : [{}]\n",
      millrace::printable(name), to_string(data_type), to_string(direction), to_string(tensor_type),
      to_string(memory_layout), fmt::join(memory_layout_order, ", "), size, size_in_bytes,
      fmt::join(shape, ", "), fmt::join(strides, ", "));
}
