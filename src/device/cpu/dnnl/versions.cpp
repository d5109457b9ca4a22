// The parts of desc.h and layout.h that depend on the version of oneDNN: 2.6 has a structure for a
// descriptor, 3.x has functions to query it.
#include <algorithm>

#include "device/cpu/dnnl/desc.h"
#include "device/cpu/dnnl/layout.h"

namespace millrace::device::cpu {

#if DNNL_VERSION_MAJOR == 2

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

Desc from_first_element(const Desc& desc) {
  Desc result = desc;
  if (layout_of(desc)) result.data.offset0 = 0;
  return result;
}

bool is_absent(const Desc& desc) {
  return desc.is_zero();
}

std::string identity_of(const Desc& desc) {
  return {reinterpret_cast<const char*>(&desc.data), sizeof desc.data};
}

#else

namespace {

// Asks oneDNN for a property, which it always has for descriptors of this kind.
template <class T>
T query(const Desc& desc, dnnl_query_t what) {
  T answer{};
  dnnl::error::wrap_c_api(dnnl_memory_desc_query(desc.get(), what, &answer),
                          "a descriptor has no such property");
  return answer;
}

Layout::Extents extents(const Desc& desc, dnnl_query_t what, size_t rank) {
  Layout::Extents result{};
  std::copy_n(*query<const dnnl_dims_t*>(desc, what), rank, result.begin());
  return result;
}

// The layout in which the second dimension is in blocks behind the others.
std::optional<dnnl::memory::format_tag> tag_of(size_t rank, int64_t block) {
  using Tag = dnnl::memory::format_tag;
  constexpr size_t kLeastRank = 3, kRanks = 3;
  struct Row {
    int64_t block;
    Tag tags[kRanks];
  };
  constexpr Row kRows[] = {{4, {Tag::aBc4b, Tag::aBcd4b, Tag::aBcde4b}},
                           {8, {Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b}},
                           {16, {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b}},
                           {32, {Tag::aBc32b, Tag::aBcd32b, Tag::aBcde32b}}};
  if (rank < kLeastRank || rank >= kLeastRank + kRanks) return std::nullopt;
  const auto* const row = std::ranges::find(kRows, block, &Row::block);
  return row == std::end(kRows) ? std::nullopt : std::optional(row->tags[rank - kLeastRank]);
}

// Returns another order for the same layout in which the dimension that is split is the second one,
// if there is one. Dimensions of size 1 may be anywhere, and so may a single block.
std::vector<uint32_t> with_split_second(const Dims& dims, std::span<const uint32_t> order,
                                        const Block& block) {
  const auto split = static_cast<uint32_t>(block.dim);
  std::vector<uint32_t> result(order.begin(), order.end());
  if (result[1] == split) return result;
  std::ranges::stable_partition(result,
                                [&](uint32_t dim) { return dim == split || dims[dim] > 1; });
  if (dims[split] <= block.size) {
    std::erase(result, split);
    result.insert(result.begin() + 1, split);
  } else if (result[0] == split && dims[result.back()] == 1) {
    std::rotate(result.begin(), result.end() - 1, result.end());
  }
  return result;
}

}  // namespace

std::optional<Layout> layout_of(const Desc& desc) {
  if (query<dnnl_format_kind_t>(desc, dnnl_query_format_kind) != dnnl_blocked) return std::nullopt;
  Layout layout;
  layout.rank = static_cast<size_t>(query<int32_t>(desc, dnnl_query_ndims_s32));
  layout.dims = extents(desc, dnnl_query_dims, layout.rank);
  layout.padded_dims = extents(desc, dnnl_query_padded_dims, layout.rank);
  layout.strides = extents(desc, dnnl_query_strides, layout.rank);
  layout.block_count = static_cast<size_t>(query<int32_t>(desc, dnnl_query_inner_nblks_s32));
  const auto sizes = extents(desc, dnnl_query_inner_blks, layout.block_count);
  const auto dims = extents(desc, dnnl_query_inner_idxs, layout.block_count);
  for (size_t i = 0; i < layout.block_count; ++i)
    layout.block_array[i] = {static_cast<size_t>(dims[i]), sizes[i]};
  layout.offset = query<dnnl_dim_t>(desc, dnnl_query_submemory_offset_s64);
  return layout;
}

// oneDNN makes layouts with blocks by their names only, and these have the dimensions in
// order: the tensor is described as it lies, and its dimensions are renamed.
std::optional<Desc> dense_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order,
                               std::span<const Block> blocks) {
  if (blocks.empty()) return ordered_desc(dims, type, order);
  const auto tag = tag_of(dims.size(), blocks[0].size);
  if (blocks.size() > 1 || !tag) return std::nullopt;
  const std::vector<uint32_t> named = with_split_second(dims, order, blocks[0]);
  if (named[1] != blocks[0].dim) return std::nullopt;
  Dims as_they_lie;
  for (const uint32_t dim : named) as_they_lie.push_back(dims[dim]);
  return Desc(as_they_lie, type, *tag).permute_axes({named.begin(), named.end()});
}

Desc with_type(const Desc& desc, ElementType type) {
  const Desc result = dense_like(desc, desc.dims(), type);
  const auto layout = layout_of(desc), made = layout_of(result);
  if (layout && made && layout->block_count != made->block_count)
    throw dnnl::error(dnnl_unimplemented, "oneDNN cannot describe the layout with another type");
  return result;
}

Desc from_first_element(const Desc& desc) {
  const auto strides = strides_of(desc);
  if (!strides || start_of(desc) == 0) return desc;
  return Desc(desc.dims(), desc.data_type(), *strides);
}

bool is_absent(const Desc& desc) {
  return desc.get(/*allow_empty=*/true) == nullptr;
}

std::string identity_of(const Desc& desc) {
  size_t bytes = 0;
  dnnl::error::wrap_c_api(dnnl_memory_desc_get_blob(nullptr, &bytes, desc.get()),
                          "a descriptor has no size");
  std::string blob(bytes, '\0');
  dnnl::error::wrap_c_api(
      dnnl_memory_desc_get_blob(reinterpret_cast<uint8_t*>(blob.data()), &bytes, desc.get()),
      "a descriptor has no bytes");
  return blob;
}

#endif

}  // namespace millrace::device::cpu
