// Convolutions of the library in bands of rows, so that each lane makes the same part of every
// image.
//
// The library divides a convolution by output channels before it divides it by rows, so that every
// lane reads the whole image. Half of that has just been written by another core, and to fetch it
// from there takes as long as a short convolution itself. Here each band of rows of the result is a
// primitive of its own, made for one thread, which reads the rows that its filter reaches.
#pragma once

#include <optional>
#include <vector>

#include "device/cpu/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// The primitives of a Conv for all rows.
struct ConvolutionPrimitives {
  dnnl::convolution_forward::primitive_desc whole;
  // Where `whole` keeps results between bounds: the same without those (careful_step.h).
  std::optional<dnnl::convolution_forward::primitive_desc> unbounded;
  bool adds_in_place = false;  // to the residual
};

// Adds the step of `made.whole`, with its `arguments`: in bands, one for each chunk of the node,
// where that is possible and pays, else as it is. The results are the same bits
// (tests/device_cpu/lanes). May throw dnnl::error.
void add_convolution(Builder& builder, const graph::Conv& op, const ConvolutionPrimitives& made,
                     std::vector<Argument> arguments);

}  // namespace millrace::device::cpu::kernels
