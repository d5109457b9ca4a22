#include "device/cpu/dnnl/layout.h"

#include <algorithm>

namespace millrace::device::cpu {

std::optional<Layout> layout_of(const Desc& desc) {
  const auto& data = desc.data;
  if (data.format_kind != dnnl_blocked) return std::nullopt;
  const auto& blocking = data.format_desc.blocking;
  Layout layout;
  layout.rank = static_cast<size_t>(data.ndims);
  std::copy_n(data.dims, layout.rank, layout.dims.begin());
  std::copy_n(data.padded_dims, layout.rank, layout.padded_dims.begin());
  std::copy_n(blocking.strides, layout.rank, layout.strides.begin());
  layout.block_count = static_cast<size_t>(blocking.inner_nblks);
  for (size_t i = 0; i < layout.block_count; ++i)
    layout.block_array[i] = {static_cast<size_t>(blocking.inner_idxs[i]), blocking.inner_blks[i]};
  layout.offset = data.offset0;
  return layout;
}

std::optional<Desc> dense_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order,
                               std::span<const Block> blocks) {
  Desc desc(dims, type, Dims{});
  auto& blocking = desc.data.format_desc.blocking;
  Dims sizes(dims.size(), 1);
  int64_t stride = 1;
  blocking.inner_nblks = static_cast<int>(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocking.inner_blks[i] = blocks[i].size;
    blocking.inner_idxs[i] = static_cast<int64_t>(blocks[i].dim);
    sizes[blocks[i].dim] *= blocks[i].size;
    stride *= blocks[i].size;
  }
  for (size_t i = order.size(); i-- > 0;) {
    const uint32_t dim = order[i];
    const int64_t count = (dims[dim] + sizes[dim] - 1) / sizes[dim];
    desc.data.padded_dims[dim] = count * sizes[dim];
    blocking.strides[dim] = stride;
    stride *= count;
  }
  return desc;
}

Desc with_type(const Desc& desc, ElementType type) {
  Desc result = desc;
  result.data.data_type = dnnl::memory::convert_to_c(type);
  return result;
}

bool is_absent(const Desc& desc) {
  return desc.is_zero();
}

std::string identity_of(const Desc& desc) {
  return {reinterpret_cast<const char*>(&desc.data), sizeof desc.data};
}

}  // namespace millrace::device::cpu
