#include "lowering/passes/pass_table.h"

namespace millrace::lowering {

std::span<const Pass> pass_table() {
  static constexpr Pass kPasses[] = {
      {"eliminate_dead_code", eliminate_dead_code},
      {"widen_half", widen_half},
      {"fold_constants", fold_constants},
      // After the constants: those that are dequantised stay integers.
      {"recognise_quantisation", recognise_quantisation},
      // This runs before operators with constant parameters get another form.
      {"fold_quantised_parameters", fold_quantised_parameters},
      {"simplify_data_movement", simplify_data_movement},
      // Before arithmetic with constants gets another form.
      {"scale_integer_sums", scale_integer_sums},
      {"lower_batch_normalization", lower_batch_normalization},
      {"canonicalise_arithmetic", canonicalise_arithmetic},
      {"recognise_functions", recognise_functions},
      {"recognise_normalization", recognise_normalization},
      // Before a constant mask becomes a Conv.
      {"recognise_attention", recognise_attention},
      // Before what stands behind a Conv in another order is merged with it.
      {"sink_transposes", sink_transposes},
      {"simplify_data_movement", simplify_data_movement},
      {"fold_padding", fold_padding},
      // Before the activations: a Conv that has one can take neither scale nor residual.
      {"fold_channel_affine", fold_channel_affine},
      {"fuse_residual_add", fuse_residual_add},
      {"hoist_functions", hoist_functions},
      {"fuse_activation", fuse_activation},
      // All other functions are where they belong by now.
      {"drop_implied_functions", drop_implied_functions},
      {"keep_quantised", keep_quantised},
      // Folds the operations left on quantised constants that were moved, or that a Fallback reads.
      {"fold_constants", fold_constants},
      {"mark_full_precision", mark_full_precision},
      {"convert_weights", convert_weights},
      {"eliminate_dead_code", eliminate_dead_code},
  };
  return kPasses;
}

}  // namespace millrace::lowering
