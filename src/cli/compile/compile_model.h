// Compiles an ONNX model as `millrace compile` does: with the settings of a configuration file,
// with calibration if the precision needs it, with profiles, and with the files of --dump-passes
// and --emit-qdq. The archive itself is the caller's to write. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/status.h"
#include "cli/commands.h"
#include "cli/report/quantisation_report.h"
#include "graph/archive/codec.h"
#include "graph/compiled_model.h"
#include "quantise/measure/hw_view_cost.h"
#include "quantise/measure/output_agreement.h"

namespace millrace::cli {

// A compiled model, which graph::encode(model, columns) makes an archive of. After calibration,
// `report` and `outputs` describe its accuracy; `hw_views` is present if the loss by requantised HW
// views was measured.
struct CompiledArchive {
  graph::CompiledModel model;
  CompileFlags flags = {};  // those of the command line, completed by the configuration file
  uint32_t columns = graph::kColumnsOfAUnit;
  std::optional<QuantisationReport> report = {};
  quantise::OutputAgreement outputs = {};
  std::optional<quantise::HwViewCost> hw_views = {};
};

// Called with a line, without newline, of what a user should know before there is a result.
using TakeNote = std::function<void(const std::string& line)>;

// Does not use `output`, `format`, `tune` and `calibration.report` of the arguments, but for the
// pictures that a report needs. Requirement: check_compile() accepts the arguments. Errors are
// those of compile_onnx() and compile_calibrated(), and of the files that are written;
// kInvalidArgument: options that do not suit the model.
Result<CompiledArchive> compile_model(const CompileArguments& arguments, const TakeNote& take_note);

}  // namespace millrace::cli
