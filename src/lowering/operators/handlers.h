// The handlers of all ONNX operators that become operators of the graph, by source file. A handler
// (see Handler in node_import.h) translates one node; operator_table.cpp maps operators to
// handlers.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// conv_pool.cpp
// Returns the fallback operator `type`, Conv or ConvTranspose, with the attributes of the node.
graph::Fallback plain_conv(NodeImport& node, const char* type);
// Emits a Conv or Pool of `x`, which is channels-first ([N, C, spatial...]), with the attributes of
// the node.
Result<ValueId> emit_conv(NodeImport& node, ValueId x, ValueId weight, ValueId bias);
Result<ValueId> emit_average_pool(NodeImport& node, ValueId x);
Result<ValueId> emit_max_pool(NodeImport& node, ValueId x);
Result<ValueId> import_conv(NodeImport& node);
Result<ValueId> import_max_pool(NodeImport& node);
Result<ValueId> import_average_pool(NodeImport& node);
Result<ValueId> import_global_average_pool(NodeImport& node);
Result<ValueId> import_global_max_pool(NodeImport& node);

// matmul.cpp
Result<ValueId> import_matmul(NodeImport& node);
Result<ValueId> import_gemm(NodeImport& node);

// elementwise.cpp
template <graph::UnaryKind kKind>
Result<ValueId> import_unary(NodeImport& node) {
  return node.unary(kKind, node.operand(0));
}
template <graph::BinaryKind kKind>
Result<ValueId> import_binary(NodeImport& node) {
  return node.binary(kKind, node.operand(0), node.operand(1));
}
// Combines any number of operands from left to right.
template <graph::BinaryKind kKind>
Result<ValueId> import_chain(NodeImport& node) {
  ValueId result = node.operand(0);
  for (size_t i = 1; i < node.operand_count(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(result, node.binary(kKind, result, node.operand(i)));
  }
  return result;
}
Result<ValueId> import_mean(NodeImport& node);
Result<ValueId> import_identity(NodeImport& node);
Result<ValueId> import_dropout(NodeImport& node);
Result<ValueId> import_clip(NodeImport& node);
Result<ValueId> import_leaky_relu(NodeImport& node);
Result<ValueId> import_elu(NodeImport& node);
Result<ValueId> import_selu(NodeImport& node);
Result<ValueId> import_hard_sigmoid(NodeImport& node);
Result<ValueId> import_hard_swish(NodeImport& node);
Result<ValueId> import_mish(NodeImport& node);
Result<ValueId> import_gelu(NodeImport& node);
Result<ValueId> import_swish(NodeImport& node);
Result<ValueId> import_pow(NodeImport& node);
Result<ValueId> import_cast(NodeImport& node);

// attention.cpp
Result<ValueId> import_standard_attention(NodeImport& node);

// linear_attention.cpp
Result<ValueId> import_linear_attention(NodeImport& node);

// reduction.cpp
template <graph::ReduceKind kKind>
Result<ValueId> import_reduce(NodeImport& node);
Result<ValueId> import_reduce_l1(NodeImport& node);
Result<ValueId> import_reduce_l2(NodeImport& node);
Result<ValueId> import_reduce_sum_square(NodeImport& node);
Result<ValueId> import_reduce_log_sum(NodeImport& node);
Result<ValueId> import_softmax(NodeImport& node);
Result<ValueId> import_log_softmax(NodeImport& node);
Result<ValueId> import_batch_normalization(NodeImport& node);

// reshaping.cpp
Result<ValueId> import_reshape(NodeImport& node);
Result<ValueId> import_flatten(NodeImport& node);
Result<ValueId> import_squeeze(NodeImport& node);
Result<ValueId> import_unsqueeze(NodeImport& node);
Result<ValueId> import_transpose(NodeImport& node);
Result<ValueId> import_depth_to_space(NodeImport& node);
Result<ValueId> import_space_to_depth(NodeImport& node);

// movement.cpp
Result<ValueId> import_concat(NodeImport& node);
Result<ValueId> import_slice(NodeImport& node);
Result<ValueId> import_split(NodeImport& node);
Result<ValueId> import_gather(NodeImport& node);
Result<ValueId> import_pad(NodeImport& node);
// Pad whose operands state the pads, the value and the axes.
Result<ValueId> import_pad_by_operands(NodeImport& node);
Result<ValueId> import_expand(NodeImport& node);
Result<ValueId> import_tile(NodeImport& node);

// resize.cpp
Result<ValueId> import_upsample(NodeImport& node);
Result<ValueId> import_resize(NodeImport& node);

// sequences.cpp
Result<ValueId> import_sequence_empty(NodeImport& node);
Result<ValueId> import_sequence_construct(NodeImport& node);
Result<ValueId> import_sequence_at(NodeImport& node);
Result<ValueId> import_sequence_erase(NodeImport& node);
Result<ValueId> import_sequence_insert(NodeImport& node);
Result<ValueId> import_sequence_length(NodeImport& node);
Result<ValueId> import_concat_from_sequence(NodeImport& node);
Result<ValueId> import_split_to_sequence(NodeImport& node);

// microsoft/fused.cpp
Result<ValueId> import_fused_conv(NodeImport& node);
Result<ValueId> import_fused_matmul(NodeImport& node);
Result<ValueId> import_fused_gemm(NodeImport& node);
Result<ValueId> import_bias_gelu(NodeImport& node);
Result<ValueId> import_fast_gelu(NodeImport& node);
Result<ValueId> import_quick_gelu(NodeImport& node);
Result<ValueId> import_bias_split_gelu(NodeImport& node);

// microsoft/normalization.cpp
Result<ValueId> import_skip_layer_norm(NodeImport& node);
Result<ValueId> import_skip_simplified_layer_norm(NodeImport& node);
Result<ValueId> import_embed_layer_norm(NodeImport& node);
Result<ValueId> import_quantised_embed_layer_norm(NodeImport& node);

// microsoft/attention.cpp
Result<ValueId> import_attention(NodeImport& node);
Result<ValueId> import_multi_head_attention(NodeImport& node);
Result<ValueId> import_decoder_masked_attention(NodeImport& node);
Result<ValueId> import_quantised_attention(NodeImport& node);

// quantised/qlinear.cpp
Result<ValueId> import_qlinear_conv(NodeImport& node);
Result<ValueId> import_qlinear_matmul(NodeImport& node);
Result<ValueId> import_qlinear_add(NodeImport& node);
Result<ValueId> import_qlinear_mul(NodeImport& node);
Result<ValueId> import_qlinear_sigmoid(NodeImport& node);
Result<ValueId> import_qlinear_leaky_relu(NodeImport& node);
Result<ValueId> import_qlinear_global_average_pool(NodeImport& node);
Result<ValueId> import_qlinear_average_pool(NodeImport& node);
Result<ValueId> import_qlinear_concat(NodeImport& node);
Result<ValueId> import_qgemm_of_numbers(NodeImport& node);
// QLinearConv of com.microsoft, channels-first or channels-last.
Result<ValueId> import_qlinear_conv_of_microsoft(NodeImport& node);

// quantised/channels_last.cpp
Result<ValueId> import_nhwc_max_pool(NodeImport& node);

// quantised/microsoft.cpp
Result<ValueId> import_matmul_integer_to_float(NodeImport& node);
Result<ValueId> import_dynamic_quantize_matmul(NodeImport& node);
Result<ValueId> import_qgemm(NodeImport& node);
Result<ValueId> import_qlinear_softmax(NodeImport& node);
Result<ValueId> import_qlinear_where(NodeImport& node);
Result<ValueId> import_qlinear_reduce_mean(NodeImport& node);
Result<ValueId> import_quantize_of_microsoft(NodeImport& node);

// microsoft/blocked_weights.cpp
Result<ValueId> import_matmul_n_bits(NodeImport& node);
Result<ValueId> import_matmul_bnb4(NodeImport& node);
Result<ValueId> import_gather_block_quantized(NodeImport& node);

// microsoft/causal_conv.cpp
Result<ValueId> import_causal_conv(NodeImport& node);

// microsoft/quantised_lstm.cpp
Result<ValueId> import_dynamic_quantize_lstm(NodeImport& node);

// microsoft/predecessors.cpp
Result<ValueId> import_as_standard(NodeImport& node);
Result<ValueId> import_conv_transpose_with_dynamic_pads(NodeImport& node);
Result<ValueId> import_distances(NodeImport& node);
Result<ValueId> import_expand_dims(NodeImport& node);
Result<ValueId> import_group_norm(NodeImport& node);
Result<ValueId> import_matmul_integer16(NodeImport& node);
Result<ValueId> import_unfold_tensor(NodeImport& node);

// microsoft/rotary_embedding.cpp
Result<ValueId> import_rotary_embedding(NodeImport& node);
Result<ValueId> import_standard_rotary_embedding(NodeImport& node);

// microsoft/grouped_attention.cpp
Result<ValueId> import_group_query_attention(NodeImport& node);

// amd/quantised.cpp
Result<ValueId> import_extended_quantize(NodeImport& node);
Result<ValueId> import_extended_dequantize(NodeImport& node);

// constant_functions.cpp: operators that the lowering computes, from constants or (Shape, Size)
// from the static shape.
Result<ValueId> import_constant(NodeImport& node);
Result<ValueId> import_constant_of_shape(NodeImport& node);
Result<ValueId> import_shape(NodeImport& node);
Result<ValueId> import_size(NodeImport& node);
Result<ValueId> import_range(NodeImport& node);

}  // namespace millrace::lowering
