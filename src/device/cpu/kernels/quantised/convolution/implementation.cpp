#include "device/cpu/kernels/quantised/convolution/implementation.h"

#include <limits>
#include <string>

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

bool has_tiles(const std::string& name) {
  return name.find("amx") != std::string::npos;
}

// How far an implementation is from the one that is wanted.
int rank(const std::string& name, bool wants_tiles) {
  if (is_reference(name)) return std::numeric_limits<int>::max();
  if (has_tiles(name) != wants_tiles) return 2;
  // With AMX, the general kernel is never slower than the one for 1x1 filters.
  const bool is_pointwise = name.find("1x1") != std::string::npos;
  return wants_tiles && is_pointwise ? 1 : 0;
}

}  // namespace

bool has_tiles(const PrimitiveDesc& primitive) {
  return has_tiles(std::string(primitive.impl_info_str()));
}

PrimitiveDesc choose_implementation(PrimitiveDesc primitive, const ConvolutionWork& work) {
  const bool wants_tiles = pays_for_tiles(work);
  PrimitiveDesc chosen = primitive;
  // oneDNN lists those with tiles first: where there are none, its order is good.
  if (!has_tiles(chosen)) return chosen;
  int least = rank(chosen.impl_info_str(), wants_tiles);
  while (least > 0 && primitive.next_impl()) {
    const int next = rank(primitive.impl_info_str(), wants_tiles);
    if (next >= least) continue;
    least = next;
    chosen = primitive;
  }
  return chosen;
}

}  // namespace millrace::device::cpu::kernels::quantised
