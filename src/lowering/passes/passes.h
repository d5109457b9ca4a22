// The passes, each a file of its name. A pass takes a valid graph (graph::validate) and leaves a
// valid one that computes the same; values and nodes that are not needed any more may be left for
// eliminate_dead_code. A failure names the node at which the model contradicts itself.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"
#include "graph/graph.h"
#include "lowering/evaluate/folding_budget.h"
#include "lowering/placement/placement.h"

namespace millrace::lowering {

struct PassContext {
  graph::Precision precision = graph::Precision::kFp32;
  CpuOperators cpu_operators = {};
  OperatorNames full_precision = {};
  bool as_written = false;  // quantised operators; see LoweringOptions
  bool attention_in_parts = false;
  // The budget that is left for computing constants, shared by all passes.
  FoldingBudget* budget = nullptr;

  // Returns whether a pass may make another constant of `elements` FLOAT32 elements. Without a
  // limit, a file of a few megabytes could make it convert the same weights for each of its nodes.
  bool may_make(size_t elements) const {
    return budget == nullptr || budget->take_floats(elements);
  }
};

// Drops nodes that no output depends on, and values that no node, input or output names.
Status eliminate_dead_code(graph::Graph& graph, const PassContext& context);

// FP16 and BF16 tensors become FLOAT32, with a Cast at each graph input and output of such a type:
// a device computes in its own precision, and the passes see one floating type.
Status widen_half(graph::Graph& graph, const PassContext& context);

// Replaces what is computed from constants alone by a constant.
Status fold_constants(graph::Graph& graph, const PassContext& context);

// QuantizeLinear and DequantizeLinear with constant parameters become Requantise, and the integers
// between them quantised values, with what moves them. Not where all is wanted as it is written;
// nor do the other passes on quantised values change anything then.
Status recognise_quantisation(graph::Graph& graph, const PassContext& context);

// Replaces quantised constants that an operator takes as parameters by the numbers that they
// represent: scale, bias, mean and variance of a BatchNormalization, the slope of a PRelu.
Status fold_quantised_parameters(graph::Graph& graph, const PassContext& context);

// Removes operators that move no data, and merges neighbours: Reshape of Reshape, Transpose of
// Transpose.
Status simplify_data_movement(graph::Graph& graph, const PassContext& context);

// ConvInteger or MatMulInteger, Cast to FLOAT32, Mul by a scale and Add of a bias, which dynamic
// quantisation consists of, become one operator: millrace.ConvIntegerToFloat or
// millrace.MatMulIntegerToFloat (src/fallback), whose scale and bias may be computed at run time.
Status scale_integer_sums(graph::Graph& graph, const PassContext& context);

// BatchNormalization becomes Mul and Add with per-channel constants.
Status lower_batch_normalization(graph::Graph& graph, const PassContext& context);

// Arithmetic with one number becomes Unary (Linear, Clip, Pow, LeakyRelu), neighbours merge, and a
// Reduce over all spatial dimensions becomes GlobalPool.
Status canonicalise_arithmetic(graph::Graph& graph, const PassContext& context);

// Finds Swish, HardSigmoid, HardSwish and Gelu in the arithmetic they were exported as.
Status recognise_functions(graph::Graph& graph, const PassContext& context);

// Finds LayerNormalization and RMSNormalization in the arithmetic they were exported as, over the
// last dimensions, with or without a constant scale and shift.
Status recognise_normalization(graph::Graph& graph, const PassContext& context);

// Finds attention in the products, the softmax and the sum with a mask that it was exported as, and
// makes it one operator, millrace.Attention (src/fallback). Not where one of them goes to the CPU
// or computes in FP32 by its name, in a BF16 program, or with context.attention_in_parts.
Status recognise_attention(graph::Graph& graph, const PassContext& context);

// Moves Transposes behind elementwise operators, Concat, Pad, Slice, Softmax and Reduce, where they
// meet others or have less to do; not where more elements would be transposed in all.
Status sink_transposes(graph::Graph& graph, const PassContext& context);

// Zero padding before a Conv or an average Pool moves into its attributes.
Status fold_padding(graph::Graph& graph, const PassContext& context);

// Scale and shift per channel after a Conv or MatMul move into its weight and bias; those of an
// image that stand alone become a depthwise Conv.
Status fold_channel_affine(graph::Graph& graph, const PassContext& context);

// Add of a Conv's result and another tensor becomes the Conv's residual operand.
Status fuse_residual_add(graph::Graph& graph, const PassContext& context);

// An elementwise function of the reshaped or transposed result of a Conv or MatMul is computed
// before the move, where it can become an activation.
Status hoist_functions(graph::Graph& graph, const PassContext& context);

// An elementwise function of the result of a Conv or MatMul becomes its activation; PRelu with a
// slope per channel the slope operand of a Conv.
Status fuse_activation(graph::Graph& graph, const PassContext& context);

// A Relu or Clip whose bounds are those of the quantised values before or after it does nothing.
Status drop_implied_functions(graph::Graph& graph, const PassContext& context);

// An operator between Requantises computes from quantised values to quantised values, and what only
// moves numbers moves integers.
Status keep_quantised(graph::Graph& graph, const PassContext& context);

// In a BF16 or FP16 program, the nodes of context.full_precision compute in FP32.
// kInvalidArgument: a name means no node.
Status mark_full_precision(graph::Graph& graph, const PassContext& context);

// Stores constant weights of the Conv and MatMul that compute in BF16 or FP16 in that type; biases
// and slopes stay FLOAT32, and so do weights of operators on the CPU and those beyond FP16's range.
Status convert_weights(graph::Graph& graph, const PassContext& context);

}  // namespace millrace::lowering
