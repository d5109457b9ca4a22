// The operator families: each function returns the rows of one family. Private to src/fallback.
#pragma once

#include <span>

#include "fallback/operator_table.h"

namespace millrace::fallback {

std::span<const OperatorSpec> arithmetic_operators() noexcept;
std::span<const OperatorSpec> arrangement_operators() noexcept;
std::span<const OperatorSpec> attention_operators() noexcept;
std::span<const OperatorSpec> bifurcation_operators() noexcept;
std::span<const OperatorSpec> bit_cast_operators() noexcept;
std::span<const OperatorSpec> block_floating_point_operators() noexcept;
std::span<const OperatorSpec> blocked_product_operators() noexcept;
std::span<const OperatorSpec> cached_attention_operators() noexcept;
std::span<const OperatorSpec> cast_like_operators() noexcept;
std::span<const OperatorSpec> collective_operators() noexcept;
std::span<const OperatorSpec> comparison_operators() noexcept;
std::span<const OperatorSpec> convolution_operators() noexcept;
std::span<const OperatorSpec> deform_conv_operators() noexcept;
std::span<const OperatorSpec> determinant_operators() noexcept;
std::span<const OperatorSpec> dropout_operators() noexcept;
std::span<const OperatorSpec> einsum_operators() noexcept;
std::span<const OperatorSpec> expert_operators() noexcept;
std::span<const OperatorSpec> feature_operators() noexcept;
std::span<const OperatorSpec> function_operators() noexcept;
std::span<const OperatorSpec> global_pool_operators() noexcept;
std::span<const OperatorSpec> grid_sample_operators() noexcept;
std::span<const OperatorSpec> indexing_operators() noexcept;
std::span<const OperatorSpec> label_operators() noexcept;
std::span<const OperatorSpec> linear_attention_operators() noexcept;
std::span<const OperatorSpec> linear_operators() noexcept;
std::span<const OperatorSpec> loss_operators() noexcept;
std::span<const OperatorSpec> matmul_operators() noexcept;
std::span<const OperatorSpec> murmur_hash_operators() noexcept;
std::span<const OperatorSpec> n_gram_operators() noexcept;
std::span<const OperatorSpec> narrow_cast_operators() noexcept;
std::span<const OperatorSpec> non_max_suppression_operators() noexcept;
std::span<const OperatorSpec> normalization_operators() noexcept;
std::span<const OperatorSpec> pooling_operators() noexcept;
std::span<const OperatorSpec> qlinear_operators() noexcept;
std::span<const OperatorSpec> quantize_operators() noexcept;
std::span<const OperatorSpec> real_function_operators() noexcept;
std::span<const OperatorSpec> recurrent_operators() noexcept;
std::span<const OperatorSpec> reduce_operators() noexcept;
std::span<const OperatorSpec> region_operators() noexcept;
std::span<const OperatorSpec> removed_operators() noexcept;
std::span<const OperatorSpec> resize_operators() noexcept;
std::span<const OperatorSpec> search_operators() noexcept;
std::span<const OperatorSpec> selection_operators() noexcept;
std::span<const OperatorSpec> signal_window_operators() noexcept;
std::span<const OperatorSpec> simplified_norm_operators() noexcept;
std::span<const OperatorSpec> softmax_operators() noexcept;
std::span<const OperatorSpec> spectrum_operators() noexcept;
std::span<const OperatorSpec> svm_operators() noexcept;
std::span<const OperatorSpec> tensor_scatter_operators() noexcept;
std::span<const OperatorSpec> time_warping_operators() noexcept;
std::span<const OperatorSpec> tree_operators() noexcept;
std::span<const OperatorSpec> word_embedding_operators() noexcept;

}  // namespace millrace::fallback
