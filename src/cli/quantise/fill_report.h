// Converts the result of a quantisation to the report on it. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "cli/quantise/calibration_flags.h"
#include "cli/report/quantisation_report.h"
#include "graph/compiled_model.h"
#include "quantise/quantise.h"

namespace millrace::cli {

// Returns the report without pictures. Sizes are those of the weights. `exact` is the floating
// point model; `precision` is the value of --precision, kInt8 or kAuto. Nodes that the user
// keeps in floating point by name are no layers, so the report does not list them.
QuantisationReport fill_report(const quantise::QuantisedModel& made,
                               const graph::CompiledModel& exact, const std::string& precision,
                               const CalibrationFlags& flags, size_t samples);

}  // namespace millrace::cli
