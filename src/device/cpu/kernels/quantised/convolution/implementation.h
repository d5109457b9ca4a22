// The choice among oneDNN's convolutions of bytes. oneDNN lists those that it has in an order of
// its own, the matrix instructions (AMX) first, which do not pay where there is little to multiply.
#pragma once

#include <cstdint>

#include "device/cpu/dnnl/convolution.h"

namespace millrace::device::cpu::kernels::quantised {

struct ConvolutionWork {
  int64_t filter_size;  // products that an output element is the sum of
  int64_t products;     // of all output elements
};

// The rank by which the one that suits the work is taken. The same work gives the same choice.
ImplementationRank rank_for(const ConvolutionWork& work);

// Whether it multiplies by matrix instructions.
bool has_tiles(const dnnl::convolution_forward::primitive_desc& primitive);

}  // namespace millrace::device::cpu::kernels::quantised
