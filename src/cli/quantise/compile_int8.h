// `millrace compile --precision int8`: compiles a model, calibrates it on data, and quantises it.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/model_source.h"
#include "cli/quantise/calibration_flags.h"
#include "cli/report/quantisation_report.h"
#include "graph/compiled_model.h"
#include "quantise/measure/output_agreement.h"

namespace millrace::cli {

struct Int8Model {
  graph::CompiledModel model;
  QuantisationReport report;
  quantise::OutputAgreement outputs;
};

// `observer` hears of the compilation, and sees the passes that make the quantised program of the
// quantised graph. kInvalidArgument: there are no data, options make no sense or name nothing, or
// the data cannot be calibrated on; kUnsupported: the model has open shapes; otherwise as
// compile_onnx().
Result<Int8Model> compile_int8(const std::string& path, const CompileFlags& flags,
                               const CalibrationFlags& calibration,
                               const CompileObserver& observer);

}  // namespace millrace::cli
