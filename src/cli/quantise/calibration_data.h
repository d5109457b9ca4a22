// The data with which `millrace compile` measures a model to choose precisions: the FP32 program,
// and the samples that --calibrate names.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/model_source.h"
#include "cli/quantise/calibration_flags.h"
#include "cli/report/quantisation_report.h"
#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"

namespace millrace::cli {

// The pictures among the samples are for the report.
struct CalibrationData {
  std::vector<quantise::Sample> samples;
  std::vector<ReportPicture> pictures;
};

// "1%" or "0.01", of --accuracy-target: more than 0 and less than 1.
Result<double> parse_share(const std::string& text);

// The floating point program: one frame, with the views that any has, and with
// quantise::split_sums() if asked for. kUnsupported: the model has open shapes; otherwise as
// compile_onnx().
Result<graph::CompiledModel> compile_fp32(const std::string& path, CompileFlags flags,
                                          bool split_sums, const CompileObserver& observer);

// Fails as DataSet does.
Result<CalibrationData> load_calibration_data(const graph::CompiledModel& model,
                                              const CalibrationFlags& flags);

}  // namespace millrace::cli
