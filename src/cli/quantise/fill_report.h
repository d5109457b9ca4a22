// Fills the report on a quantisation with its results.
#pragma once

#include <cstddef>
#include <string>

#include "cli/quantise/calibration_flags.h"
#include "cli/report/quantisation_report.h"
#include "graph/compiled_model.h"
#include "quantise/quantise.h"

namespace millrace::cli {

// Everything but the pictures. Sizes are those of the weights. `exact` is the floating point model,
// `precision` what was asked for: kInt8 or kAuto. The loss of a layer is its own: what the layers
// before it lose is not in it.
QuantisationReport fill_report(const quantise::QuantisedModel& made,
                               const graph::CompiledModel& exact, const std::string& precision,
                               const CalibrationFlags& flags, size_t samples);

}  // namespace millrace::cli
