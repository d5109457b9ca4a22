// Convolutions of oneDNN, by those of its implementations that give right results.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "device/cpu/dnnl/desc.h"

namespace millrace::device::cpu {

// [N, C, spatial...] and [M, C, kernel...], or [groups, M / groups, C / groups, kernel...].
struct ConvolutionOperation {
  Desc x, weights;
  Desc bias;  // empty: none
  Desc y;
  // As ONNX has them, with an entry for each spatial dimension.
  const Dims &strides, &dilations, &pads_begin, &pads_end;
};

// How far the implementation of that name is from the one that is wanted; nothing where it must not
// be taken.
using ImplementationRank = std::function<std::optional<int>(std::string_view implementation)>;

// The rank by which an implementation must have the name `wanted`.
ImplementationRank only_named(std::string_view wanted);
// The rank by which oneDNN's own order decides.
std::optional<int> in_given_order(std::string_view implementation);

// Returns the primitive of the least rank, the first of these in oneDNN's order, or an empty one.
// May throw dnnl::error, too.
//
// Implementations with the defects of 2.6 are left out:
// - Where some results read padding only, convolutions by brgemm run code without its table of
//   constants: elementwise post-ops that have one end the process (SIGSEGV).
// - Of some convolutions of bytes in groups there is a description, but no primitive can be made.
// There is none, either, for what defects.h says of 3.7.2.
dnnl::convolution_forward::primitive_desc find_convolution(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
    const ConvolutionOperation& operation, const ImplementationRank& rank = in_given_order);

}  // namespace millrace::device::cpu
