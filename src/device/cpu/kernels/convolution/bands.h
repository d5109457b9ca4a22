// Convolutions of oneDNN divided into bands of rows, so that each lane computes the same part of
// every image.
//
// oneDNN divides a convolution by output channels before it divides it by rows, so that every lane
// reads the whole image. Half of the image has just been written by another core, and fetching it
// from there takes as long as a short convolution itself. Here each band of rows of the result is a
// primitive of its own, made for one thread, which reads the rows that its filter reaches.
#pragma once

#include <optional>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// The primitives that compute all rows of a Conv.
struct ConvolutionPrimitives {
  dnnl::convolution_forward::primitive_desc whole;
  // Present if `whole` keeps results between bounds: the same without bounds (careful_step.h).
  std::optional<dnnl::convolution_forward::primitive_desc> unbounded;
  bool adds_in_place = false;  // adds to the residual in its memory
};

// Adds the step of `made.whole`, with its `arguments`. It is divided into bands, one for each chunk
// of the node, where that is possible and faster. The results have the same bits in either case
// (tests/device_cpu/lanes). May throw dnnl::error.
void add_convolution(Builder& builder, const graph::Conv& op, const ConvolutionPrimitives& made,
                     std::vector<Argument> arguments);

}  // namespace millrace::device::cpu::kernels
