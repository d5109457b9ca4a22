// Measures on samples how much accuracy is lost when inputs and outputs pass through requantised HW
// views, whose scale and zero point are the vendor's and not the model's.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "graph/vendor_quantisation.h"
#include "quantise/calibrate/sample.h"
#include "quantise/measure/output_agreement.h"

namespace millrace::quantise {

struct HwViewCost {
  // By boundary: how far its elements move, in units of the model's scale; empty if its HW view is
  // not requantised.
  std::vector<std::optional<graph::RequantisationError>> inputs, outputs;
  OutputAgreement agreement;  // of the outputs through HW views with those through CPU views
};

// Runs the model on the samples as they are and on samples that were rounded as HW views round
// them, and rounds the outputs of the latter. Requirement: the model is static, and each sample
// fits its inputs. Errors are those of run_outputs().
Result<HwViewCost> measure_hw_views(const graph::CompiledModel& model,
                                    std::span<const Sample> samples);

}  // namespace millrace::quantise
