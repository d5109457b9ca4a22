// The primitive of a Conv: what the graph asks for, made in one of several forms.
#pragma once

#include "device/cpu/builder/form.h"
#include "device/cpu/dnnl/desc.h"
#include "graph/graph.h"

namespace millrace::device::cpu::kernels {

// The parameters of a Conv that its oneDNN primitive is made from.
struct Convolution {
  // Computed in `type`; `op` is the node's, and must outlive this.
  Convolution(const graph::Graph& graph, const graph::Node& node, const graph::Conv& op,
              ElementType type);

  const graph::Conv* op;
  ElementType type;
  Dims x, y;
  Dims weight;  // [M, C / group, kernel...], with the groups split off where there are any
  Dims bias;    // empty: none
  bool has_residual, has_slope;
};

// Functions that the primitive itself applies to its result. The rest follows as separate steps.
struct FusedFunctions {
  bool prelu = false;
  bool activation = false;
};

// Whether the activation of `op` can be one of FusedFunctions.
bool can_fuse_activation(const graph::Conv& op);

// The result is empty if oneDNN has no such primitive. May throw dnnl::error, too. Requirement: the
// form is not is_own().
dnnl::convolution_forward::primitive_desc make_convolution(const Convolution& convolution,
                                                           Form form, const FusedFunctions& fused,
                                                           const dnnl::engine& engine);

// Makes the primitive with the layouts and the implementation of `whole`, which has the activation
// of the Conv, but without the bounds that are the last part of the activation. The result is empty
// where there is no such primitive. May throw dnnl::error.
dnnl::convolution_forward::primitive_desc make_unbounded(
    const Convolution& convolution, const FusedFunctions& fused,
    const dnnl::convolution_forward::primitive_desc& whole, const dnnl::engine& engine);

// The slopes of PRelu as the primitive takes them, one for each channel, and under which index.
Desc slope_desc(const Convolution& convolution);
int prelu_argument(const Convolution& convolution);

}  // namespace millrace::device::cpu::kernels
