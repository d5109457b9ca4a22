#include "device/cpu/dnnl_adapter.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "device/cpu/openmp/openmp.h"

namespace millrace::device::cpu {

Status to_status(const dnnl::error& error) {
  switch (error.status) {
    case dnnl_out_of_memory:
      return out_of_memory();
    case dnnl_unimplemented:
      return unsupported(fmt::format("oneDNN: {}", error.what()));
    default:
      return internal_error(fmt::format("oneDNN: {}", error.what()));
  }
}

Status out_of_memory() {
  return {StatusCode::kOutOfMemory, "not enough memory for the model on the CPU device"};
}

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

namespace {

// Splits dimension 1 into blocks of `block` that are innermost in memory.
void set_channel_block(Desc& desc, int block) {
  auto& blocking = desc.data.format_desc.blocking;
  desc.data.padded_dims[1] = (desc.data.dims[1] + block - 1) / block * block;
  blocking.inner_nblks = 1;
  blocking.inner_blks[0] = block;
  blocking.inner_idxs[0] = 1;
}

}  // namespace

Desc blocked_desc(const Dims& dims, ElementType type, int block) {
  Desc desc = plain_desc(dims, type);
  if (dims.size() < 3 || dims.size() > 5) return desc;
  set_channel_block(desc, block);
  auto* strides = desc.data.format_desc.blocking.strides;
  int64_t stride = block;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= i == 1 ? desc.data.padded_dims[1] / block : dims[i];
  }
  return desc;
}

Desc hcwnc_desc(const Dims& dims, ElementType type, int block) {
  Desc desc = plain_desc(dims, type);
  set_channel_block(desc, block);
  auto* strides = desc.data.format_desc.blocking.strides;
  const int64_t pixel = dims[0] * block;
  strides[0] = block;
  strides[1] = dims[3] * pixel;
  strides[2] = desc.data.padded_dims[1] / block * strides[1];
  strides[3] = pixel;
  return desc;
}

Desc dense_like(const Desc& desc, const Dims& dims) {
  Desc result = plain_desc(dims, desc.data_type());
  const auto& from = desc.data.format_desc.blocking;
  auto& to = result.data.format_desc.blocking;
  std::vector<int64_t> blocks(dims.size(), 1);
  int64_t stride = 1;
  to.inner_nblks = from.inner_nblks;
  for (int i = 0; i < from.inner_nblks; ++i) {
    to.inner_blks[i] = from.inner_blks[i];
    to.inner_idxs[i] = from.inner_idxs[i];
    blocks[static_cast<size_t>(from.inner_idxs[i])] *= from.inner_blks[i];
    stride *= from.inner_blks[i];
  }
  // Innermost first; a dimension of size 1 may have any stride and stays where C order has it.
  std::vector<size_t> order;
  for (size_t i = dims.size(); i-- > 0;) order.push_back(i);
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return from.strides[a] < from.strides[b]; });
  for (size_t i : order) {
    const int64_t count = (dims[i] + blocks[i] - 1) / blocks[i];
    result.data.padded_dims[i] = count * blocks[i];
    to.strides[i] = stride;
    stride *= count;
  }
  return result;
}

Desc any_desc(const Dims& dims, ElementType type) {
  return Desc(dims, type, dnnl::memory::format_tag::any);
}

Desc with_type(const Desc& desc, ElementType type) {
  Desc result = desc;
  result.data.data_type = dnnl::memory::convert_to_c(type);
  return result;
}

Desc bytes_desc(size_t bytes) {
  return plain_desc({static_cast<int64_t>(bytes)}, ElementType::u8);
}

namespace {

// Whether dimension `dim` of `desc` continues a C-order walk whose step is `expected` elements;
// advances `expected` past the dimension.
bool continues_plain(const dnnl_memory_desc_t& desc, int dim, int64_t& expected) {
  const auto& blocking = desc.format_desc.blocking;
  int64_t inner_stride = 1, blocks = desc.dims[dim];
  for (int i = blocking.inner_nblks; i-- > 0;) {
    const int64_t size = blocking.inner_blks[i];
    if (blocking.inner_idxs[i] == dim && size > 1) {
      if (inner_stride != expected) return false;
      expected *= size;
      blocks /= size;
    }
    inner_stride *= size;
  }
  if (blocks > 1 && blocking.strides[dim] != expected) return false;
  expected *= blocks;
  return true;
}

}  // namespace

bool is_plain(const Desc& desc) {
  const auto& data = desc.data;
  if (data.format_kind != dnnl_blocked || data.offset0 != 0 || has_padding(desc)) return false;
  int64_t expected = 1;
  for (int dim = data.ndims; dim-- > 0;)
    if (!continues_plain(data, dim, expected)) return false;
  return true;
}

bool has_padding(const Desc& desc) {
  return !std::equal(desc.data.dims, desc.data.dims + desc.data.ndims, desc.data.padded_dims);
}

bool is_dense(const Desc& desc) {
  const auto& data = desc.data;
  size_t bytes = dnnl::memory::data_type_size(desc.data_type());
  for (int i = 0; i < data.ndims; ++i) bytes *= static_cast<size_t>(data.padded_dims[i]);
  return data.format_kind == dnnl_blocked && data.offset0 == 0 && desc.get_size() == bytes;
}

std::optional<Desc> reshaped(const Desc& desc, const Dims& dims) {
  if (is_plain(desc)) return plain_desc(dims, desc.data_type());
  Desc result = desc.reshape(dims, /*allow_empty=*/true);
  if (result.is_zero()) return std::nullopt;
  return result;
}

Desc permuted(const Desc& desc, const Dims& permutation) {
  // oneDNN takes the new position of each dimension, not the old one.
  std::vector<int> target(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    target[static_cast<size_t>(permutation[i])] = static_cast<int>(i);
  return desc.permute_axes(target);
}

std::string to_string(const Desc& desc) {
  std::string text = dnnl_dt2str(static_cast<dnnl_data_type_t>(desc.data.data_type));
  text += ':';
  if (desc.data.format_kind != dnnl_blocked) return text + "any";
  const auto& blocking = desc.data.format_desc.blocking;
  std::vector<int> order(static_cast<size_t>(desc.data.ndims));
  std::iota(order.begin(), order.end(), 0);
  // Outermost first.
  std::ranges::stable_sort(order,
                           [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  const auto inner = std::span(blocking.inner_idxs, static_cast<size_t>(blocking.inner_nblks));
  for (const int i : order) {
    const bool in_blocks = std::ranges::find(inner, i) != inner.end();
    text += static_cast<char>((in_blocks ? 'A' : 'a') + i);
  }
  for (size_t i = 0; i < inner.size(); ++i)
    text += std::to_string(blocking.inner_blks[i]) + static_cast<char>('a' + inner[i]);
  return text;
}

std::string_view identity_of(const Desc& desc) {
  return {reinterpret_cast<const char*>(&desc.data), sizeof desc.data};
}

std::string library_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version.major, version.minor, version.patch);
}

bool is_reference(const std::string& implementation) {
  return implementation.find("ref") != std::string::npos;
}

Status execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
               std::span<const dnnl_exec_arg_t> arguments) noexcept {
  if (reserve::bytes_free() < reserve::kForRunning) return out_of_memory();
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive.get(true), stream.get(true), static_cast<int>(arguments.size()), arguments.data());
  if (take_refused_barrier()) [[unlikely]]
    return internal_error("oneDNN: the threads of a primitive wait for each other");
  if (status == dnnl_success) return {};
  if (status == dnnl_out_of_memory) return out_of_memory();
  return internal_error(fmt::format("oneDNN: a primitive failed with status {}", status));
}

void set_handle(const dnnl::memory& memory, void* handle) noexcept {
  dnnl_memory_set_data_handle(memory.get(true), handle);
}

}  // namespace millrace::device::cpu
