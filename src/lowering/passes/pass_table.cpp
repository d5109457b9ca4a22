#include "lowering/passes/pass_table.h"

namespace millrace::lowering {

std::span<const Pass> pass_table() {
  static constexpr Pass kPasses[] = {
      {"eliminate_dead_code", eliminate_dead_code},
      {"widen_half", widen_half},
      {"fold_constants", fold_constants},
      // After fold_constants, which would otherwise dequantise quantised constants.
      {"recognise_quantisation", recognise_quantisation},
      // Before passes that look for FLOAT32 parameters (lower_batch_normalization and later ones).
      {"fold_quantised_parameters", fold_quantised_parameters},
      {"simplify_data_movement", simplify_data_movement},
      // Before canonicalise_arithmetic, which would turn Mul and Add with scalars into Unary.
      {"scale_integer_sums", scale_integer_sums},
      {"lower_batch_normalization", lower_batch_normalization},
      {"canonicalise_arithmetic", canonicalise_arithmetic},
      {"recognise_functions", recognise_functions},
      {"recognise_normalization", recognise_normalization},
      // Before fold_channel_affine, which could turn the Add of a constant mask into a Conv.
      {"recognise_attention", recognise_attention},
      // Before operators that follow a Conv are fused into it, since a Transpose in between
      // prevents that.
      {"sink_transposes", sink_transposes},
      {"simplify_data_movement", simplify_data_movement},
      {"fold_padding", fold_padding},
      // Before fuse_activation: a Conv with an activation can take neither a scale nor a residual.
      {"fold_channel_affine", fold_channel_affine},
      {"fuse_residual_add", fuse_residual_add},
      {"hoist_functions", hoist_functions},
      {"fuse_activation", fuse_activation},
      // After fuse_activation: by now each function is where it will be computed.
      {"drop_implied_functions", drop_implied_functions},
      {"keep_quantised", keep_quantised},
      // Folds what keep_quantised has left: movements of quantised constants, and Requantise of
      // those that a Fallback reads.
      {"fold_constants", fold_constants},
      {"mark_full_precision", mark_full_precision},
      {"convert_weights", convert_weights},
      {"eliminate_dead_code", eliminate_dead_code},
  };
  return kPasses;
}

}  // namespace millrace::lowering
