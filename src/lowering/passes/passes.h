// The optimisation passes of the compiler, each in a file of its name. A pass takes a valid graph
// (graph::validate()) and leaves a valid graph that computes the same. It may leave values and
// nodes that nothing needs any more for eliminate_dead_code. An error names the node at which the
// model is inconsistent. The order of the passes is in pass_table.cpp.
//
// Many passes rely on the form that earlier ones produce: constants are folded, arithmetic with a
// scalar is a Unary (canonicalise_arithmetic), and quantised tensors are values with a
// graph::Quantisation. For one thread per graph.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "graph/capabilities.h"
#include "graph/compiled_model.h"
#include "graph/graph.h"
#include "lowering/evaluate/folding_budget.h"
#include "lowering/passes/derived_constants.h"
#include "lowering/placement/placement.h"

namespace millrace::lowering {

struct PassContext {
  graph::Precision precision = graph::Precision::kFp32;
  CpuOperators cpu_operators = {};
  OperatorNames full_precision = {};
  bool as_written = false;  // see LoweringOptions
  bool attention_in_parts = false;
  graph::Capabilities capabilities = {};
  // The budget that is left for computing constants, shared by all passes.
  FoldingBudget* budget = nullptr;

  // Where graphs of one model share the constants that passes derive; may be null.
  DerivedConstants* derived = nullptr;

  // Returns make(), or the same constant that another graph of the model has from it. `operation`
  // names what make() computes from `source`.
  graph::Constant derive(const graph::Constant& source, const std::string& operation,
                         const std::function<graph::Constant()>& make) const {
    return derived == nullptr ? make() : derived->get(source, operation, make);
  }
  // Returns whether a pass may make another constant of `elements` FLOAT32 elements, and takes
  // these from the budget. Without a limit, a file of a few megabytes could make it convert the
  // same weights for each of its nodes.
  bool may_make(size_t elements) const {
    return budget == nullptr || budget->take_floats(elements);
  }
};

// Removes nodes that no output depends on, and values that no node, input or output refers to.
Status eliminate_dead_code(graph::Graph& graph, const PassContext& context);

// Widens FP16 and BF16 values to FLOAT32, with a Cast at each graph input and output of such a
// type: a device computes in its own precision, and the passes see one floating-point type.
Status widen_half(graph::Graph& graph, const PassContext& context);

// Replaces nodes whose operands are all constants by constants.
Status fold_constants(graph::Graph& graph, const PassContext& context);

// Turns QuantizeLinear and DequantizeLinear with constant parameters into Requantise, and the
// integers between them into quantised values, also through operators that only move elements. Does
// nothing if context.as_written is set, as do drop_implied_functions and keep_quantised.
Status recognise_quantisation(graph::Graph& graph, const PassContext& context);

// Dequantises quantised constants that an operator takes as parameters: scale, bias, mean and
// variance of a BatchNormalization, the slope of a PRelu.
Status fold_quantised_parameters(graph::Graph& graph, const PassContext& context);

// Removes data movement that changes nothing (a Reshape to the same shape, an identity Transpose),
// and merges Reshape of Reshape and Transpose of Transpose.
Status simplify_data_movement(graph::Graph& graph, const PassContext& context);

// Fuses the operators of dynamic quantisation, ConvInteger or MatMulInteger, Cast to FLOAT32, Mul
// by a scale and Add of a bias, into one: millrace.ConvIntegerToFloat or
// millrace.MatMulIntegerToFloat (src/fallback). Scale and bias may be computed at run time.
Status scale_integer_sums(graph::Graph& graph, const PassContext& context);

// Replaces BatchNormalization by Mul and Add with per-channel constants.
Status lower_batch_normalization(graph::Graph& graph, const PassContext& context);

// Turns a Binary with a scalar constant into a Unary (Linear, Clip, Pow, LeakyRelu), composes
// neighbouring Unary operators, and turns a Reduce over all spatial dimensions into a GlobalPool.
Status canonicalise_arithmetic(graph::Graph& graph, const PassContext& context);

// Recognises Swish, HardSigmoid, HardSwish and Gelu in the arithmetic as which they were exported.
Status recognise_functions(graph::Graph& graph, const PassContext& context);

// Recognises LayerNormalization and RMSNormalization over the last dimensions in the arithmetic as
// which they were exported, with or without a constant scale and (LayerNormalization only) shift.
Status recognise_normalization(graph::Graph& graph, const PassContext& context);

// Fuses scaled dot-product attention, which is exported as MatMul, Add of masks, Softmax and
// MatMul, into one operator, millrace.Attention (src/fallback). Does nothing for a BF16 program or
// with context.attention_in_parts, nor where one of the nodes is named in context.cpu_operators or
// context.full_precision.
Status recognise_attention(graph::Graph& graph, const PassContext& context);

// Moves Transposes from the operands to the results of elementwise operators, Concat, Pad, Slice,
// Softmax and Reduce, where they may cancel each other or be smaller. It does so only if fewer
// elements are transposed in all, or as many by fewer Transposes.
Status sink_transposes(graph::Graph& graph, const PassContext& context);

// Moves the zero padding of a Pad before a Conv or an average Pool into the attributes of that.
Status fold_padding(graph::Graph& graph, const PassContext& context);

// Folds a scale and shift per channel after a Conv or MatMul into its weight and bias. Where there
// is no such operator, turns a scale and shift per channel of an image into a depthwise Conv.
Status fold_channel_affine(graph::Graph& graph, const PassContext& context);

// Fuses an Add of a Conv's result and another tensor into the Conv, as its residual operand.
Status fuse_residual_add(graph::Graph& graph, const PassContext& context);

// Moves an elementwise function of the reshaped or transposed result of a Conv or MatMul before
// that movement, so that fuse_activation can make it an activation.
Status hoist_functions(graph::Graph& graph, const PassContext& context);

// Fuses an elementwise function of the result of a Conv or MatMul into it, as its activation, and a
// PRelu with a slope per channel into a Conv, as its slope operand.
Status fuse_activation(graph::Graph& graph, const PassContext& context);

// Removes a Relu or Clip that the saturation of a quantised value before or after it implies.
Status drop_implied_functions(graph::Graph& graph, const PassContext& context);

// Removes the Requantise nodes around operators: these then read and store quantised values
// directly, and operators that only move elements move integers.
Status keep_quantised(graph::Graph& graph, const PassContext& context);

// In a BF16 or FP16 program, makes the nodes of context.full_precision compute in FP32.
// kInvalidArgument if a name matches no node.
Status mark_full_precision(graph::Graph& graph, const PassContext& context);

// Stores the constant weights of each Conv and MatMul that computes in BF16 or FP16 in that type.
// Biases and slopes stay FLOAT32, and so do weights of operators on the CPU and weights beyond the
// range of FP16.
Status convert_weights(graph::Graph& graph, const PassContext& context);

}  // namespace millrace::lowering
