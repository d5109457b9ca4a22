// Functions on tensor descriptors of oneDNN: they make them, compare them, and tell how the tensor
// lies in memory. Pure functions, thread-safe. May throw dnnl::error.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "device/cpu/dnnl/types.h"

namespace millrace::device::cpu {

// Descriptors of floating point tensors. `dims` has one entry per logical dimension.
Desc plain_desc(const Dims& dims, ElementType type);  // dense, C order
// Dense, with the dimensions in memory in the order `order`, outermost first.
Desc ordered_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order);
// Dense, channels (dimension 1) innermost; plain below 3 dimensions.
Desc channels_last_desc(const Dims& dims, ElementType type);
// Channels (dimension 1) in blocks of `block` innermost, for 3 to 5 dimensions; plain otherwise.
Desc blocked_desc(const Dims& dims, ElementType type, int block);
// The layout HCWNC{block} of tensor/layout.h, for 4 dimensions.
Desc hcwnc_desc(const Dims& dims, ElementType type, int block);
// Returns a dense layout for other dims of the same rank, with dimensions and blocks in the order
// of `desc`, except that a batch of one is outermost if nothing is in blocks. It is plain if oneDNN
// cannot express that layout.
Desc dense_like(const Desc& desc, const Dims& dims);
// Leaves the layout to the primitive.
Desc any_desc(const Dims& dims, ElementType type);
// Requirement: `desc` is dense, in an order that dense_like() keeps.
Desc with_type(const Desc& desc, ElementType type);
// Describes bytes that are no floating point tensor to oneDNN.
Desc bytes_desc(size_t bytes);

// Whether the memory holds the elements in C order without gaps or padding.
bool is_plain(const Desc& desc);
bool has_padding(const Desc& desc);
// Whether the elements, with padding, fill the memory from its start without gaps, in any order.
bool is_dense(const Desc& desc);
// Whether two layouts put every element at the same distance from the first one: they are equal
// except for the strides of dimensions that have one index or one block, and for the offset.
bool have_same_strides(const Desc& a, const Desc& b);
// The same memory seen with other dimensions, when the layout allows that without moving data.
std::optional<Desc> reshaped(const Desc& desc, const Dims& dims);
// The same memory seen with dimension i of the result being dimension permutation[i].
Desc permuted(const Desc& desc, const Dims& permutation);
// The elements from `begin` on, as many as `dims`, in the same memory, when the layout can be cut
// there.
std::optional<Desc> submemory(const Desc& desc, const Dims& dims, const Dims& begin);
// Offset of the first element, in elements from the start of the memory.
int64_t start_of(const Desc& desc);
// Returns a descriptor of the same tensor in memory that begins at its first element. oneDNN gets
// only such descriptors, and bytes_before() is added to the pointer. Many primitives of oneDNN 2.6,
// such as its matrix products, start at the pointer, wherever the descriptor says that the first
// element is. With 3.x a view with blocks is unchanged, since 3.x cannot describe it, and
// bytes_before() is 0.
Desc from_first_element(const Desc& desc);
// Returns the distance in bytes from the start of the memory of `desc` to that of
// from_first_element(desc).
size_t bytes_before(const Desc& desc);
// The distance between neighbours in each dimension, in elements; nothing where the layout is no
// order of the dimensions or splits some into blocks.
std::optional<Dims> strides_of(const Desc& desc);

// Type and layout in oneDNN's notation: "f32:abcd" in C order, "bf16:aBcd16b" with dimension b
// in blocks of 16; "any" where the layout is no order of the dimensions.
std::string to_string(const Desc& desc);

// Returns bytes that are the same for the same layout, including all that a kernel stores besides
// the elements, within one version of oneDNN.
std::string identity_of(const Desc& desc);

}  // namespace millrace::device::cpu
