// Measures on samples what it costs to pass inputs and outputs through requantised HW views.
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
  // Indexed by boundary: how far its values change, in units of the model's scale; nothing where
  // its HW view is not requantised.
  std::vector<std::optional<graph::RequantisationError>> inputs, outputs;
  OutputAgreement agreement;  // compares outputs through HW views with those through CPU views
};

// Requirement: the model is static. Errors are those of run_outputs().
Result<HwViewCost> measure_hw_views(const graph::CompiledModel& model,
                                    std::span<const Sample> samples);

}  // namespace millrace::quantise
