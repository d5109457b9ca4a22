#include "nrt/calls/tensor_info.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

namespace millrace::nrt {
namespace {

// Copies one tensor's description, and its shape to where shapes go.
void write(const ModelTensor& tensor, nrt_tensor_info_t& info, uint32_t*& shapes) {
  const size_t length = std::min<size_t>(tensor.name.size(), NRT_TENSOR_NAME_MAX - 1);
  std::memcpy(info.name, tensor.name.data(), length);
  info.usage = tensor.usage;
  info.size = tensor.bytes;
  info.dtype = tensor.type;
  info.shape = shapes;
  info.ndim = static_cast<uint32_t>(tensor.shape.size());
  shapes = std::copy(tensor.shape.begin(), tensor.shape.end(), shapes);
}

}  // namespace

nrt_tensor_info_array_t* make_tensor_info(const Model& model) {
  size_t tensors = 0, extents = 0;
  for (const auto* side : {&model.inputs(), &model.outputs()}) {
    tensors += side->size();
    for (const ModelTensor& tensor : *side) extents += tensor.shape.size();
  }
  const size_t shapes_at = sizeof(nrt_tensor_info_array_t) + tensors * sizeof(nrt_tensor_info_t);
  void* const block = std::calloc(1, shapes_at + extents * sizeof(uint32_t));
  if (block == nullptr) throw std::bad_alloc();
  auto* const array = static_cast<nrt_tensor_info_array_t*>(block);
  auto* shapes = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(block) + shapes_at);
  for (const auto* side : {&model.inputs(), &model.outputs()})
    for (const ModelTensor& tensor : *side)
      write(tensor, array->tensor_array[array->tensor_count++], shapes);
  return array;
}

void free_tensor_info(nrt_tensor_info_array_t* info) noexcept {
  std::free(info);
}

}  // namespace millrace::nrt
