// `millrace compile`: compiles an ONNX model to an archive, and prints what a user should know
// about it. Outputs are checked before any work is done, and written under CleanInterruption, so
// that a signal leaves no incomplete file.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/compile/compile_model.h"
#include "cli/compile/outputs.h"
#include "cli/compile/summary.h"
#include "cli/print_escaped.h"
#include "cli/supervision/interruption.h"
#include "cli/tune/record_place.h"
#include "device/registry.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"

namespace millrace::cli {
namespace {

void print_line(const std::string& line) {
  print_escaped("{}\n", line);
}

// Prints which precisions were chosen and the loss of accuracy. Writes the HTML report to the file
// `page`, unless it is empty.
Status show(const QuantisationReport& report, const quantise::OutputAgreement& outputs,
            const std::string& page) {
  print_escaped_lines(quantisation_text(report));
  print_escaped("  outputs against fp32: mean cosine {:.5f}, worst sample {:.5f}\n",
                outputs.mean_cosine, outputs.worst_cosine);
  return write_report(report, page);
}

// Before any work is done, rejects outputs with which the written archive could not be tuned.
Status check_tuning(const CompileArguments& arguments) {
  if (arguments.output.ends_with(".onnx"))
    return invalid_argument(
        fmt::format("--tune loads the archive, and {} would be taken for an ONNX file: choose "
                    "another output",
                    arguments.output));
  const std::string record = record_beside(arguments.output);
  for (const std::string& other :
       {arguments.onnx.path, arguments.emit_qdq, arguments.calibration.report})
    if (!other.empty() && same_place(other, record))
      return invalid_argument(other + " is where --tune keeps its times: choose another name");
  return device::open_device_of_program(kTunedDevice).status().with_context("--tune");
}

Status tune_archive(const CompileArguments& arguments) {
  TuneArguments tuning;
  tuning.model = arguments.output;
  tuning.shapes = arguments.tune_shapes;
  return run_tune(tuning).with_context("the archive is written, but not tuned");
}

Status compile_to_archive(const CompileArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const CompiledArchive compiled, compile_model(arguments, print_line));
  CleanInterruption interruption;
  MILLRACE_RETURN_IF_ERROR(interruption.start());
  MILLRACE_RETURN_IF_ERROR(model::write_archive(graph::encode(compiled.model, compiled.columns),
                                                arguments.output, form_of(arguments)));
  for (const std::string& line : summary_lines(compiled, arguments.output)) print_line(line);
  return compiled.report ? show(*compiled.report, compiled.outputs, arguments.calibration.report)
                         : Status();
}

}  // namespace

Status run_compile(const CompileArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_outputs(arguments));
  if (arguments.tune) MILLRACE_RETURN_IF_ERROR(check_tuning(arguments));
  MILLRACE_RETURN_IF_ERROR(compile_to_archive(arguments));
  return arguments.tune ? tune_archive(arguments) : Status();
}

}  // namespace millrace::cli
