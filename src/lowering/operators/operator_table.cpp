// A row is a domain, an operator, the first and last operator set, the least and most operands, and
// the handler. The rows are sorted by domain and name. A handler may serve several operators, and
// several versions of one: it distinguishes them by NodeImport::type() and NodeImport::opset().
#include "lowering/operators/operator_table.h"

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::ReduceKind;
using graph::UnaryKind;

constexpr int kFirst = kMinOpset;
constexpr int kNow = kNoLastOpset;

constexpr OperatorEntry kOperators[] = {
    {"", "Abs", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kAbs>},
    {"", "Add", kFirst, kNow, {2, 2}, import_binary<BinaryKind::kAdd>},
    {"", "Attention", 23, kNow, {3, 7}, import_standard_attention},
    {"", "AveragePool", kFirst, kNow, {1, 1}, import_average_pool},
    {"", "BatchNormalization", kFirst, kNow, {5, 5}, import_batch_normalization},
    {"", "Cast", 6, kNow, {1, 1}, import_cast},
    {"", "Ceil", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kCeil>},
    {"", "Clip", kFirst, kNow, {1, 3}, import_clip},
    {"", "Concat", 4, kNow, {1, kAnyNumber}, import_concat},
    {"", "ConcatFromSequence", 11, kNow, {1, 1}, import_concat_from_sequence},
    {"", "Constant", kFirst, kNow, {0, 0}, import_constant},
    {"", "ConstantOfShape", 9, kNow, {1, 1}, import_constant_of_shape},
    {"", "Conv", kFirst, kNow, {2, 3}, import_conv},
    {"", "DepthToSpace", kFirst, kNow, {1, 1}, import_depth_to_space},
    {"", "Div", kFirst, kNow, {2, 2}, import_binary<BinaryKind::kDiv>},
    {"", "Dropout", kFirst, kNow, {1, 3}, import_dropout},
    {"", "Elu", kFirst, kNow, {1, 1}, import_elu},
    {"", "Erf", 9, kNow, {1, 1}, import_unary<UnaryKind::kErf>},
    {"", "Exp", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kExp>},
    {"", "Expand", 8, kNow, {2, 2}, import_expand},
    {"", "Flatten", kFirst, kNow, {1, 1}, import_flatten},
    {"", "Floor", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kFloor>},
    {"", "Gather", kFirst, kNow, {2, 2}, import_gather},
    {"", "Gelu", 20, kNow, {1, 1}, import_gelu},
    {"", "Gemm", kFirst, kNow, {2, 3}, import_gemm},
    {"", "GlobalAveragePool", kFirst, kNow, {1, 1}, import_global_average_pool},
    {"", "GlobalMaxPool", kFirst, kNow, {1, 1}, import_global_max_pool},
    {"", "HardSigmoid", kFirst, kNow, {1, 1}, import_hard_sigmoid},
    {"", "HardSwish", 14, kNow, {1, 1}, import_hard_swish},
    {"", "Identity", kFirst, kNow, {1, 1}, import_identity},
    {"", "LeakyRelu", kFirst, kNow, {1, 1}, import_leaky_relu},
    {"", "Log", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kLog>},
    {"", "LogSoftmax", kFirst, kNow, {1, 1}, import_log_softmax},
    {"", "MatMul", kFirst, kNow, {2, 2}, import_matmul},
    {"", "Max", kFirst, kNow, {1, kAnyNumber}, import_chain<BinaryKind::kMax>},
    {"", "MaxPool", kFirst, kNow, {1, 1}, import_max_pool},
    {"", "Mean", kFirst, kNow, {1, kAnyNumber}, import_mean},
    {"", "Min", kFirst, kNow, {1, kAnyNumber}, import_chain<BinaryKind::kMin>},
    {"", "Mish", 18, kNow, {1, 1}, import_mish},
    {"", "Mul", kFirst, kNow, {2, 2}, import_binary<BinaryKind::kMul>},
    {"", "Neg", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kNeg>},
    {"", "PRelu", kFirst, kNow, {2, 2}, import_binary<BinaryKind::kPrelu>},
    {"", "Pad", 2, kNow, {1, 4}, import_pad},
    {"", "Pow", kFirst, kNow, {2, 2}, import_pow},
    {"", "QLinearConv", 10, kNow, {8, 9}, import_qlinear_conv},
    {"", "QLinearMatMul", 10, kNow, {8, 8}, import_qlinear_matmul},
    {"", "Range", 11, kNow, {3, 3}, import_range},
    {"", "Reciprocal", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kReciprocal>},
    {"", "ReduceL1", kFirst, kNow, {1, 2}, import_reduce_l1},
    {"", "ReduceL2", kFirst, kNow, {1, 2}, import_reduce_l2},
    {"", "ReduceLogSum", kFirst, kNow, {1, 2}, import_reduce_log_sum},
    {"", "ReduceMax", kFirst, kNow, {1, 2}, import_reduce<ReduceKind::kMax>},
    {"", "ReduceMean", kFirst, kNow, {1, 2}, import_reduce<ReduceKind::kMean>},
    {"", "ReduceMin", kFirst, kNow, {1, 2}, import_reduce<ReduceKind::kMin>},
    {"", "ReduceProd", kFirst, kNow, {1, 2}, import_reduce<ReduceKind::kProd>},
    {"", "ReduceSum", kFirst, kNow, {1, 2}, import_reduce<ReduceKind::kSum>},
    {"", "ReduceSumSquare", kFirst, kNow, {1, 2}, import_reduce_sum_square},
    {"", "Relu", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kRelu>},
    {"", "Reshape", 5, kNow, {2, 2}, import_reshape},
    {"", "Resize", 10, kNow, {1, 4}, import_resize},
    {"", "Round", 11, kNow, {1, 1}, import_unary<UnaryKind::kRound>},
    {"", "RotaryEmbedding", 23, kNow, {3, 4}, import_standard_rotary_embedding},
    {"", "Selu", kFirst, kNow, {1, 1}, import_selu},
    {"", "SequenceAt", 11, kNow, {2, 2}, import_sequence_at},
    {"", "SequenceConstruct", 11, kNow, {1, kAnyNumber}, import_sequence_construct},
    {"", "SequenceEmpty", 11, kNow, {0, 0}, import_sequence_empty},
    {"", "SequenceErase", 11, kNow, {1, 2}, import_sequence_erase},
    {"", "SequenceInsert", 11, kNow, {2, 3}, import_sequence_insert},
    {"", "SequenceLength", 11, kNow, {1, 1}, import_sequence_length},
    {"", "Shape", kFirst, kNow, {1, 1}, import_shape},
    {"", "Sigmoid", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kSigmoid>},
    {"", "Size", kFirst, kNow, {1, 1}, import_size},
    {"", "Slice", kFirst, kNow, {1, 5}, import_slice},
    {"", "Softmax", kFirst, kNow, {1, 1}, import_softmax},
    {"", "Softplus", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kSoftplus>},
    {"", "SpaceToDepth", kFirst, kNow, {1, 1}, import_space_to_depth},
    {"", "Split", kFirst, kNow, {1, 2}, import_split},
    {"", "SplitToSequence", 11, kNow, {1, 2}, import_split_to_sequence},
    {"", "Sqrt", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kSqrt>},
    {"", "Squeeze", kFirst, kNow, {1, 2}, import_squeeze},
    {"", "Sub", kFirst, kNow, {2, 2}, import_binary<BinaryKind::kSub>},
    {"", "Sum", kFirst, kNow, {1, kAnyNumber}, import_chain<BinaryKind::kAdd>},
    {"", "Swish", 24, kNow, {1, 1}, import_swish},
    {"", "Tanh", kFirst, kNow, {1, 1}, import_unary<UnaryKind::kTanh>},
    {"", "Tile", 6, kNow, {2, 2}, import_tile},
    {"", "Transpose", kFirst, kNow, {1, 1}, import_transpose},
    {"", "Unsqueeze", kFirst, kNow, {1, 2}, import_unsqueeze},
    {"", "Upsample", 7, 9, {1, 2}, import_upsample},
    {"com.amd.quark", "ExtendedDequantizeLinear", 1, kNow, {2, 3}, import_extended_dequantize},
    {"com.amd.quark", "ExtendedQuantizeLinear", 1, kNow, {2, 3}, import_extended_quantize},
    {"com.microsoft", "Attention", 1, kNow, {2, 7}, import_attention},
    {"com.microsoft", "BiasAdd", 1, kNow, {3, 3}, import_chain<BinaryKind::kAdd>},
    {"com.microsoft", "BiasGelu", 1, kNow, {2, 2}, import_bias_gelu},
    {"com.microsoft", "BiasSplitGelu", 1, kNow, {2, 2}, import_bias_split_gelu},
    {"com.microsoft", "CDist", 1, kNow, {2, 2}, import_distances},
    {"com.microsoft", "DequantizeLinear", 1, kNow, {2, 3}, import_quantize_of_microsoft},
    {"com.microsoft", "DynamicQuantizeLSTM", 1, kNow, {3, 12}, import_dynamic_quantize_lstm},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, kNow, {3, 5}, import_dynamic_quantize_matmul},
    {"com.microsoft", "EmbedLayerNormalization", 1, kNow, {1, 9}, import_embed_layer_norm},
    {"com.microsoft", "FastGelu", 1, kNow, {1, 2}, import_fast_gelu},
    {"com.microsoft", "FusedConv", 1, kNow, {2, 4}, import_fused_conv},
    {"com.microsoft", "FusedGemm", 1, kNow, {2, 3}, import_fused_gemm},
    {"com.microsoft", "FusedMatMul", 1, kNow, {2, 2}, import_fused_matmul},
    {"com.microsoft", "GatherBlockQuantized", 1, kNow, {3, 4}, import_gather_block_quantized},
    {"com.microsoft", "GatherND", 1, kNow, {2, 2}, import_as_standard},
    {"com.microsoft", "Gelu", 1, kNow, {1, 1}, import_unary<UnaryKind::kGelu>},
    {"com.microsoft", "GridSample", 1, kNow, {2, 2}, import_as_standard},
    {"com.microsoft", "GroupNorm", 1, kNow, {3, 3}, import_group_norm},
    {"com.microsoft", "GroupQueryAttention", 1, kNow, {1, 12}, import_group_query_attention},
    {"com.microsoft", "MatMulIntegerToFloat", 1, kNow, {4, 7}, import_matmul_integer_to_float},
    {"com.microsoft", "MatMulNBits", 1, kNow, {3, 6}, import_matmul_n_bits},
    {"com.microsoft", "MultiHeadAttention", 1, kNow, {3, 8}, import_multi_head_attention},
    {"com.microsoft", "NhwcMaxPool", 1, kNow, {1, 1}, import_nhwc_max_pool},
    {"com.microsoft", "QAttention", 1, kNow, {5, 9}, import_quantised_attention},
    {"com.microsoft",
     "QEmbedLayerNormalization",
     1,
     kNow,
     {1, 18},
     import_quantised_embed_layer_norm},
    {"com.microsoft", "QGemm", 1, kNow, {6, 9}, import_qgemm},
    {"com.microsoft", "QLinearAdd", 1, kNow, {1, 8}, import_qlinear_add},
    {"com.microsoft", "QLinearAveragePool", 1, kNow, {1, 5}, import_qlinear_average_pool},
    {"com.microsoft", "QLinearConcat", 1, kNow, {5, kAnyNumber}, import_qlinear_concat},
    {"com.microsoft", "QLinearConv", 1, kNow, {8, 9}, import_qlinear_conv_of_microsoft},
    {"com.microsoft",
     "QLinearGlobalAveragePool",
     1,
     kNow,
     {1, 5},
     import_qlinear_global_average_pool},
    {"com.microsoft", "QLinearLeakyRelu", 1, kNow, {1, 5}, import_qlinear_leaky_relu},
    {"com.microsoft", "QLinearMul", 1, kNow, {1, 8}, import_qlinear_mul},
    {"com.microsoft", "QLinearReduceMean", 1, kNow, {4, 5}, import_qlinear_reduce_mean},
    {"com.microsoft", "QLinearSigmoid", 1, kNow, {1, 5}, import_qlinear_sigmoid},
    {"com.microsoft", "QLinearSoftmax", 1, kNow, {4, 5}, import_qlinear_softmax},
    {"com.microsoft", "QLinearWhere", 1, kNow, {8, 9}, import_qlinear_where},
    {"com.microsoft", "QuantizeLinear", 1, kNow, {2, 3}, import_quantize_of_microsoft},
    {"com.microsoft", "QuickGelu", 1, kNow, {1, 1}, import_quick_gelu},
    {"com.microsoft", "RotaryEmbedding", 1, kNow, {4, 4}, import_rotary_embedding},
    {"com.microsoft", "SkipLayerNormalization", 1, kNow, {3, 5}, import_skip_layer_norm},
    {"com.microsoft",
     "SkipSimplifiedLayerNormalization",
     1,
     kNow,
     {3, 4},
     import_skip_simplified_layer_norm},
    {"com.microsoft", "TransposeMatMul", 1, kNow, {2, 2}, import_fused_matmul},
    {"com.microsoft", "Trilu", 1, kNow, {1, 2}, import_as_standard},
    {"com.vai.quantize", "VitisDequantizeLinear", 1, kNow, {2, 3}, import_extended_dequantize},
    {"com.vai.quantize", "VitisQuantizeLinear", 1, kNow, {2, 3}, import_extended_quantize},
};

}  // namespace

std::span<const OperatorEntry> operator_table() {
  return kOperators;
}

const OperatorEntry* find_operator(std::string_view domain, std::string_view type, int opset) {
  for (const OperatorEntry& entry : kOperators) {
    if (entry.type == type && entry.domain == domain && entry.since <= opset &&
        opset <= entry.last) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace millrace::lowering
