// The rank of oneDNN's implementations of a convolution of bytes. oneDNN lists those with matrix
// instructions (AMX) first, which do not pay if there is little to multiply.
#pragma once

#include <cstdint>

#include "device/cpu/dnnl/convolution.h"

namespace millrace::device::cpu::kernels::quantised {

struct ConvolutionWork {
  int64_t filter_size;  // products that an output element is the sum of
  int64_t products;     // of all output elements
};

// Returns the rank by which find_convolution() takes the implementation that suits the work. The
// same work gives the same choice.
ImplementationRank rank_for(const ConvolutionWork& work);

// Whether the primitive multiplies by matrix instructions.
bool has_tiles(const dnnl::convolution_forward::primitive_desc& primitive);

}  // namespace millrace::device::cpu::kernels::quantised
