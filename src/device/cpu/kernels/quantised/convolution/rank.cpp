#include "device/cpu/kernels/quantised/convolution/rank.h"

#include <optional>
#include <string_view>
#include <utility>

#include "device/cpu/dnnl/traits.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

// A tile of AMX holds 64 bytes of a filter; with less of it, or in short layers, to set the tiles
// up and to store them takes longer than the products (measured in docs/performance/quantised.md).
// The sums are exact either way, so the results are the same.
bool pays_for_tiles(const ConvolutionWork& work) {
  constexpr int64_t kLeastFilter = 64, kLeastProducts = 7'000'000;
  return work.filter_size >= kLeastFilter && work.products >= kLeastProducts;
}

std::optional<int> rank(std::string_view name, bool wants_tiles) {
  if (is_reference(name)) return std::nullopt;
  if (uses_tiles(name) != wants_tiles) return 2;
  // With AMX, the general kernel is never slower than the one for 1x1 filters.
  return wants_tiles && is_pointwise_only(name) ? 1 : 0;
}

}  // namespace

bool has_tiles(const PrimitiveDesc& primitive) {
  return uses_tiles(primitive.impl_info_str());
}

ImplementationRank rank_for(const ConvolutionWork& work) {
  // oneDNN lists those with tiles first: where there are none, its order is good.
  return [wants_tiles = pays_for_tiles(work), is_first = true](std::string_view name) mutable {
    if (std::exchange(is_first, false) && !uses_tiles(name)) wants_tiles = false;
    return rank(name, wants_tiles);
  };
}

}  // namespace millrace::device::cpu::kernels::quantised
