// Layouts are made and compared by their order of dimensions, their blocks and their padded extents
// (Layout), which do not depend on the version of oneDNN.
#include "device/cpu/dnnl/desc.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "device/cpu/dnnl/layout.h"

namespace millrace::device::cpu {
namespace {

// Dense, with the channels in blocks.
std::optional<Desc> channel_blocks(const Dims& dims, ElementType type,
                                   std::span<const uint32_t> order, int block) {
  const Block channels{1, block};
  return dense_desc(dims, type, order, {&channels, 1});
}

}  // namespace

Desc plain_desc(const Dims& dims, ElementType type) {
  return Desc(dims, type, Dims{});
}

Desc ordered_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  return Desc(dims, type, strides);
}

Desc channels_last_desc(const Dims& dims, ElementType type) {
  if (dims.size() < 3) return plain_desc(dims, type);
  std::vector<uint32_t> order(dims.size() - 1);
  std::iota(order.begin() + 1, order.end(), 2);
  order[0] = 0;
  order.push_back(1);
  return ordered_desc(dims, type, order);
}

Desc blocked_desc(const Dims& dims, ElementType type, int block) {
  if (dims.size() < 3 || dims.size() > 5) return plain_desc(dims, type);
  std::vector<uint32_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  return channel_blocks(dims, type, order, block).value();
}

Desc hcwnc_desc(const Dims& dims, ElementType type, int block) {
  constexpr uint32_t kOrder[] = {2, 1, 3, 0};
  return channel_blocks(dims, type, kOrder, block).value();
}

std::vector<uint32_t> order_of(const Layout& layout) {
  std::vector<uint32_t> order(layout.rank);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](uint32_t a, uint32_t b) { return layout.strides[a] > layout.strides[b]; });
  return order;
}

Desc dense_like(const Desc& desc, const Dims& dims, ElementType type) {
  const auto layout = layout_of(desc);
  if (!layout) return plain_desc(dims, type);
  std::vector<uint32_t> order = order_of(*layout);
  // A batch of one lies the same wherever it is; oneDNN's pooling, for one, takes it outermost
  // only.
  if (dims[0] == 1 && layout->block_count == 0)
    std::rotate(order.begin(), std::ranges::find(order, 0U), std::ranges::find(order, 0U) + 1);
  return dense_desc(dims, type, order, layout->blocks()).value_or(plain_desc(dims, type));
}

Desc dense_like(const Desc& desc, const Dims& dims) {
  return dense_like(desc, dims, desc.data_type());
}

Desc any_desc(const Dims& dims, ElementType type) {
  return Desc(dims, type, dnnl::memory::format_tag::any);
}

Desc bytes_desc(size_t bytes) {
  return plain_desc({static_cast<int64_t>(bytes)}, ElementType::u8);
}

namespace {

// Whether dimension `dim` continues a C-order walk whose step is `expected` elements; advances
// `expected` past the dimension.
bool continues_plain(const Layout& layout, size_t dim, int64_t& expected) {
  int64_t inner_stride = 1, count = layout.dims[dim];
  for (size_t i = layout.block_count; i-- > 0;) {
    const Block& block = layout.block_array[i];
    if (block.dim == dim && block.size > 1) {
      if (inner_stride != expected) return false;
      expected *= block.size;
      count /= block.size;
    }
    inner_stride *= block.size;
  }
  if (count > 1 && layout.strides[dim] != expected) return false;
  expected *= count;
  return true;
}

}  // namespace

bool is_plain(const Desc& desc) {
  const auto layout = layout_of(desc);
  if (!layout || layout->offset != 0 || layout->padded_dims != layout->dims) return false;
  int64_t expected = 1;
  for (size_t dim = layout->rank; dim-- > 0;)
    if (!continues_plain(*layout, dim, expected)) return false;
  return true;
}

bool has_padding(const Desc& desc) {
  const auto layout = layout_of(desc);
  return layout && layout->padded_dims != layout->dims;
}

bool is_dense(const Desc& desc) {
  const auto layout = layout_of(desc);
  if (!layout || layout->offset != 0) return false;
  size_t bytes = dnnl::memory::data_type_size(desc.data_type());
  for (size_t i = 0; i < layout->rank; ++i) bytes *= static_cast<size_t>(layout->padded_dims[i]);
  return desc.get_size() == bytes;
}

bool have_same_strides(const Desc& a, const Desc& b) {
  const auto one = layout_of(a), other = layout_of(b);
  if (!one || !other || a.data_type() != b.data_type() || one->rank != other->rank) return false;
  const auto is_same = [](const Block& x, const Block& y) {
    return x.dim == y.dim && x.size == y.size;
  };
  if (one->dims != other->dims || one->padded_dims != other->padded_dims ||
      !std::ranges::equal(one->blocks(), other->blocks(), is_same))
    return false;
  Layout::Extents steps = one->padded_dims;
  for (const Block& block : one->blocks()) steps[block.dim] /= block.size;
  for (size_t i = 0; i < one->rank; ++i)
    if (steps[i] != 1 && one->strides[i] != other->strides[i]) return false;
  return true;
}

namespace {

// Returns whether a dimension of size 1 is split into blocks, each of which has one element in use.
bool splits_a_single_index(const Desc& desc) {
  const auto layout = layout_of(desc);
  return layout && std::ranges::any_of(layout->blocks(), [&](const Block& block) {
           return layout->dims[block.dim] == 1;
         });
}

}  // namespace

std::optional<Desc> reshaped(const Desc& desc, const Dims& dims) {
  if (is_plain(desc)) return plain_desc(dims, desc.data_type());
  // If a dimension of size 1 is left out, oneDNN 2.6 gives its blocks to a neighbouring dimension.
  if (splits_a_single_index(desc) && dims != desc.dims()) return std::nullopt;
  Desc result = desc.reshape(dims, /*allow_empty=*/true);
  if (is_absent(result)) return std::nullopt;
  return result;
}

Desc permuted(const Desc& desc, const Dims& permutation) {
  // oneDNN takes the new position of each dimension, not the old one.
  std::vector<int> target(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    target[static_cast<size_t>(permutation[i])] = static_cast<int>(i);
  return desc.permute_axes(target);
}

std::optional<Desc> submemory(const Desc& desc, const Dims& dims, const Dims& begin) {
  Desc part = desc.submemory_desc(dims, begin, /*allow_empty=*/true);
  if (is_absent(part)) return std::nullopt;
  return part;
}

int64_t start_of(const Desc& desc) {
  const auto layout = layout_of(desc);
  return layout ? layout->offset : 0;
}

size_t bytes_before(const Desc& desc) {
  const int64_t left_out = start_of(desc) - start_of(from_first_element(desc));
  return static_cast<size_t>(left_out) * dnnl::memory::data_type_size(desc.data_type());
}

std::optional<Dims> strides_of(const Desc& desc) {
  const auto layout = layout_of(desc);
  if (!layout || layout->block_count != 0) return std::nullopt;
  return Dims(layout->strides.begin(),
              layout->strides.begin() + static_cast<ptrdiff_t>(layout->rank));
}

std::string to_string(const Desc& desc) {
  std::string text = dnnl_dt2str(dnnl::memory::convert_to_c(desc.data_type()));
  text += ':';
  const auto layout = layout_of(desc);
  if (!layout) return text + "any";
  const auto letter = [](char first, size_t dim) { return static_cast<char>(first + dim); };
  for (const uint32_t dim : order_of(*layout)) {
    const bool in_blocks =
        std::ranges::find(layout->blocks(), size_t{dim}, &Block::dim) != layout->blocks().end();
    text += letter(in_blocks ? 'A' : 'a', dim);
  }
  for (const Block& block : layout->blocks())
    text += fmt::to_string(block.size) + letter('a', block.dim);
  return text;
}

}  // namespace millrace::device::cpu
