// `millrace compile --precision int8` and `--precision auto`: compiles a model, measures it on
// data, and chooses what each layer computes in.
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
  std::optional<quantise::HwViewCost> hw_views;  // present if some are requantised
};

// `observer` hears of the compilation, and sees the passes that make the program of the graph in
// which precisions are chosen. Requirement: needs_calibration(flags.precision). kInvalidArgument:
// there are no data, options make no sense or name nothing, or the data cannot be measured on;
// kUnsupported: the model has open shapes, or its precision cannot be measured on this processor;
// otherwise as compile_onnx().
Result<CalibratedModel> compile_calibrated(const std::string& path, const CompileFlags& flags,
                                           const CalibrationFlags& calibration,
                                           const CompileObserver& observer);

// Measures how passing the samples through HW views changes a model that was quantised before.
// kInvalidArgument: no HW view is requantised. Other errors are those of load_calibration_data()
// and quantise::measure_hw_views().
Result<quantise::HwViewCost> measure_hw_views(const graph::CompiledModel& model,
                                              const CalibrationFlags& calibration);

}  // namespace millrace::cli
