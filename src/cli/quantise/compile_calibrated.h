// `millrace compile --precision int8` and `--precision auto`: compiles a model to FP32, measures it
// on samples, and chooses the precision in which each layer computes. One thread.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "cli/model_source.h"
#include "cli/quantise/calibration_flags.h"
#include "cli/report/quantisation_report.h"
#include "graph/compiled_model.h"
#include "quantise/measure/hw_view_cost.h"
#include "quantise/measure/output_agreement.h"

namespace millrace::cli {

struct CalibratedModel {
  graph::CompiledModel model;
  QuantisationReport report;
  quantise::OutputAgreement outputs;
  std::optional<quantise::HwViewCost> hw_views;  // present if HW views are requantised
};

// Checks the options of calibration without opening anything. kInvalidArgument: there are no data,
// or an option is invalid. Requirement: needs_calibration(flags.precision).
Status check_calibration(const CompileFlags& flags, const CalibrationFlags& calibration);

// Compiles a model with calibration. `observer` is called for the FP32 compilation
// (on_assumed_frames) and for the passes that compile the graph with the chosen precisions
// (on_stage). Requirement: needs_calibration(flags.precision).
//
// kInvalidArgument: there are no data, an option is invalid or has a name that matches nothing,
// shapes of inputs are open, or the data do not fit the model; kUnsupported: shapes inside the
// model depend on elements, or the precision cannot be measured on this processor. Other errors are
// those of compile_onnx().
Result<CalibratedModel> compile_calibrated(const OnnxSource& source, const CompileFlags& flags,
                                           const CalibrationFlags& calibration,
                                           const CompileObserver& observer);

// Measures on the samples how much accuracy a model that is already quantised loses through its HW
// views. kInvalidArgument: no HW view is requantised. Other errors are those of
// load_calibration_data() and quantise::measure_hw_views().
Result<quantise::HwViewCost> measure_hw_views(const graph::CompiledModel& model,
                                              const CalibrationFlags& calibration);

}  // namespace millrace::cli
