// The only code that knows what is particular to oneDNN 2.x: its exceptions, the fields of its
// memory descriptors, and which ways of calling it allocate. 3.x changed all of these.
//
// oneDNN reports failure by exceptions while primitives are made; everything that makes one runs
// inside guarded(). Running a primitive throws nothing.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/status.h"
#include "device/cpu/reserve/reserve.h"
#include "graph/operators.h"

namespace millrace::device::cpu {

using graph::Dims;
using Desc = dnnl::memory::desc;
using ElementType = dnnl::memory::data_type;

// What a failure of oneDNN means to our callers.
Status to_status(const dnnl::error& error);
Status out_of_memory();

// Calls `make`, which returns a Status or a Result and makes primitives or memory, unless the
// reserve could not save oneDNN from a failed allocation. Turns what it throws into a Status.
template <class F>
std::invoke_result_t<F> guarded(F&& make) noexcept {
  if (reserve::bytes_free() < reserve::kForMaking) return out_of_memory();
  try {
    return make();
  } catch (const dnnl::error& error) {
    return to_status(error);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// Descriptors of floating point tensors. `dims` has one entry per logical dimension.
Desc plain_desc(const Dims& dims, ElementType type);  // dense, C order
// Dense, with the dimensions in memory in the order `order`, outermost first.
Desc ordered_desc(const Dims& dims, ElementType type, std::span<const uint32_t> order);
// Channels (dimension 1) in blocks of `block` innermost, for 3 to 5 dimensions; plain otherwise.
Desc blocked_desc(const Dims& dims, ElementType type, int block);
// The layout HCWNC{block} of tensor/layout.h, for 4 dimensions.
Desc hcwnc_desc(const Dims& dims, ElementType type, int block);
// A dense layout for other dims of the same rank, with dimensions and blocks in the order of
// `desc`.
Desc dense_like(const Desc& desc, const Dims& dims);
// Leaves the layout to the primitive.
Desc any_desc(const Dims& dims, ElementType type);
Desc with_type(const Desc& desc, ElementType type);
// Bytes that are no floating point tensor to oneDNN.
Desc bytes_desc(size_t bytes);

// Whether the memory holds the elements in C order without gaps or padding.
bool is_plain(const Desc& desc);
bool has_padding(const Desc& desc);
// Whether the elements, with padding, fill the memory from its start without gaps, in any order.
bool is_dense(const Desc& desc);
// The same memory seen with other dimensions, when the layout allows that without moving data.
std::optional<Desc> reshaped(const Desc& desc, const Dims& dims);
// The same memory seen with dimension i of the result being dimension permutation[i].
Desc permuted(const Desc& desc, const Dims& permutation);

// Type and layout in the library's notation: "f32:abcd" in C order, "bf16:aBcd16b" with dimension b
// in blocks of 16; "any" where the layout is no order of the dimensions.
std::string to_string(const Desc& desc);

// Bytes that are the same for the same layout, with all that a kernel wants to have in it besides
// the elements, in one version of the library.
std::string_view identity_of(const Desc& desc);
// "oneDNN 2.6.3"
std::string library_version();

// True for the slow implementations that exist for completeness only.
bool is_reference(const std::string& implementation);

// Runs a primitive; nothing is allocated by this call itself.
Status execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
               std::span<const dnnl_exec_arg_t> arguments) noexcept;
void set_handle(const dnnl::memory& memory, void* handle) noexcept;

}  // namespace millrace::device::cpu
