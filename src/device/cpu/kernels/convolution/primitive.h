// The oneDNN primitive of a Conv, in one of several forms.
#pragma once

#include "device/cpu/builder/form.h"
#include "device/cpu/dnnl/desc.h"
#include "graph/graph.h"

namespace millrace::device::cpu::kernels {

// The parameters of a Conv that its oneDNN primitive is made from.
struct Convolution {
  // The Conv computes in `type`. `op` is the operator of the node, and must outlive this object.
  Convolution(const graph::Graph& graph, const graph::Node& node, const graph::Conv& op,
              ElementType type);

  const graph::Conv* op;
  ElementType type;
  Dims x, y;
  Dims weight;  // [M, C / group, kernel...], with the groups split off where there are any
  Dims bias;    // empty: none
  bool has_residual, has_slope;
};

// The functions that the primitive itself applies to its result. Others are separate steps.
struct FusedFunctions {
  bool prelu = false;
  bool activation = false;
};

// Whether the activation of `op` can be one of FusedFunctions.
bool can_fuse_activation(const graph::Conv& op);

// Returns an empty descriptor if oneDNN has no such primitive. May throw dnnl::error, too.
// Requirement: the form is not is_own().
dnnl::convolution_forward::primitive_desc make_convolution(const Convolution& convolution,
                                                           Form form, const FusedFunctions& fused,
                                                           const dnnl::engine& engine);

// Makes the primitive with the layouts and the implementation of `whole`, which has the activation
// of the Conv, but without the bounds that are the last part of the activation. Returns an empty
// descriptor if there is no such primitive. May throw dnnl::error.
dnnl::convolution_forward::primitive_desc make_unbounded(
    const Convolution& convolution, const FusedFunctions& fused,
    const dnnl::convolution_forward::primitive_desc& whole, const dnnl::engine& engine);

// Return the descriptor of the slopes of PRelu, one for each channel, and the index of that
// argument.
Desc slope_desc(const Convolution& convolution);
int prelu_argument(const Convolution& convolution);

}  // namespace millrace::device::cpu::kernels
