#include "lowering/operators/known_attributes.h"

#include <algorithm>
#include <iterator>

namespace millrace::lowering {
namespace {

// The attributes of an operator, separated by spaces.
struct Known {
  std::string_view type, attributes;
};

constexpr Known kKnown[] = {
    {"Attention",
     "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision"},
    {"AveragePool", "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", "epsilon momentum training_mode"},
    {"Cast", "round_mode saturate to"},
    {"CausalConvWithState", "activation"},
    {"Concat", "axis"},
    {"ConcatFromSequence", "axis new_axis"},
    {"Constant",
     "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {"ConstantOfShape", "value"},
    {"Conv", "auto_pad dilations group kernel_shape pads strides"},
    {"DepthToSpace", "blocksize mode"},
    {"Dropout", "seed"},
    {"Elu", "alpha"},
    {"Flatten", "axis"},
    {"Gather", "axis"},
    {"Gelu", "approximate"},
    {"Gemm", "alpha beta transA transB"},
    {"HardSigmoid", "alpha beta"},
    {"LeakyRelu", "alpha"},
    {"LinearAttention", "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"LogSoftmax", "axis"},
    {"MaxPool", "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"Pad", "mode"},
    {"QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    {"Range", "stash_type"},
    {"ReduceL1", "keepdims noop_with_empty_axes"},
    {"ReduceL2", "keepdims noop_with_empty_axes"},
    {"ReduceLogSum", "keepdims noop_with_empty_axes"},
    {"ReduceMax", "keepdims noop_with_empty_axes"},
    {"ReduceMean", "keepdims noop_with_empty_axes"},
    {"ReduceMin", "keepdims noop_with_empty_axes"},
    {"ReduceProd", "keepdims noop_with_empty_axes"},
    {"ReduceSum", "keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", "keepdims noop_with_empty_axes"},
    {"Reshape", "allowzero"},
    {"Resize",
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
     "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"RotaryEmbedding", "interleaved num_heads rotary_embedding_dim"},
    {"Selu", "alpha gamma"},
    {"SequenceEmpty", "dtype"},
    {"Shape", "end start"},
    {"Softmax", "axis"},
    {"SpaceToDepth", "blocksize"},
    {"Split", "axis num_outputs"},
    {"SplitToSequence", "axis keepdims"},
    {"Swish", "alpha"},
    {"Transpose", "perm"},
};

}  // namespace

bool is_known_attribute(std::string_view type, std::string_view name) {
  const auto* const known = std::ranges::find(kKnown, type, &Known::type);
  if (known == std::end(kKnown)) return false;
  std::string_view rest = known->attributes;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == name) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace millrace::lowering
