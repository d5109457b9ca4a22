#include "fallback/operator_table.h"

#include <fmt/format.h>

#include <array>

#include "fallback/families.h"

namespace millrace::fallback {
namespace {

std::string describe(Count count) {
  if (count.most == kAnyNumber) return fmt::format("{} or more", count.least);
  if (count.least == count.most) return std::to_string(count.least);
  return fmt::format("{} to {}", count.least, count.most);
}

}  // namespace

Status check_count(const char* what, size_t number, Count allowed) {
  const bool enough = number >= allowed.least;
  if (enough && (allowed.most == kAnyNumber || number <= allowed.most)) return {};
  return invalid_argument(
      fmt::format("it has {} {}; expected {}", number, what, describe(allowed)));
}

Status check_inputs(size_t number, Count allowed, const std::function<bool(size_t)>& is_present) {
  MILLRACE_RETURN_IF_ERROR(check_count("inputs", number, allowed));
  const size_t required = allowed.most == kAnyNumber ? number : allowed.least;
  for (size_t i = 0; i < required; ++i)
    if (!is_present(i)) return invalid_argument(fmt::format("its input {} is missing", i));
  return {};
}

std::span<const std::span<const OperatorSpec>> operator_families() noexcept {
  static const std::array kFamilies = {
      arithmetic_operators(),
      arrangement_operators(),
      attention_operators(),
      bifurcation_operators(),
      bit_cast_operators(),
      block_floating_point_operators(),
      blocked_product_operators(),
      cached_attention_operators(),
      cast_like_operators(),
      collective_operators(),
      comparison_operators(),
      convolution_operators(),
      deform_conv_operators(),
      determinant_operators(),
      dropout_operators(),
      einsum_operators(),
      expert_operators(),
      feature_operators(),
      function_operators(),
      global_pool_operators(),
      grid_sample_operators(),
      indexing_operators(),
      label_operators(),
      linear_attention_operators(),
      linear_operators(),
      loss_operators(),
      matmul_operators(),
      murmur_hash_operators(),
      n_gram_operators(),
      narrow_cast_operators(),
      non_max_suppression_operators(),
      normalization_operators(),
      pooling_operators(),
      qlinear_operators(),
      quantize_operators(),
      real_function_operators(),
      recurrent_operators(),
      reduce_operators(),
      region_operators(),
      removed_operators(),
      resize_operators(),
      search_operators(),
      selection_operators(),
      signal_window_operators(),
      simplified_norm_operators(),
      softmax_operators(),
      spectrum_operators(),
      svm_operators(),
      tensor_scatter_operators(),
      time_warping_operators(),
      tree_operators(),
      word_embedding_operators(),
  };
  return kFamilies;
}

const OperatorSpec* find_operator(std::string_view name) noexcept {
  for (const auto family : operator_families()) {
    for (const OperatorSpec& spec : family) {
      if (name == spec.name) return &spec;
    }
  }
  return nullptr;
}

}  // namespace millrace::fallback
