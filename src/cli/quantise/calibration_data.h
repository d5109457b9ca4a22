// Prepares what `millrace compile` needs to choose precisions: the FP32 program, and the samples of
// --calibrate. One thread.
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

// Samples, and small pictures of some of them for the report.
struct CalibrationData {
  std::vector<quantise::Sample> samples;
  std::vector<ReportPicture> pictures;
};

// Parses the value of --accuracy-target, such as "1%" or "0.01": more than 0 and less than 1.
Result<double> parse_share(const std::string& text);

// Compiles the FP32 program that is measured: for one frame, with default layouts of HW views, and
// with quantise::split_sums() if `split_sums` is true. kInvalidArgument: shapes of inputs are open;
// kUnsupported: shapes inside the model depend on elements. Other errors are those of
// compile_onnx().
Result<graph::CompiledModel> compile_fp32(const OnnxSource& source, CompileFlags flags,
                                          bool split_sums, const CompileObserver& observer);

// Loads the samples that the flags name, with pictures if there is to be a report. Errors are those
// of picture_options() and DataSet.
Result<CalibrationData> load_calibration_data(const graph::CompiledModel& model,
                                              const CalibrationFlags& flags);

}  // namespace millrace::cli
