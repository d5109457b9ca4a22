#include "cli/compile/compile_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/shell_word.h"
#include "cli/inputs/open_tensors.h"
#include "cli/passes/onnx_export.h"
#include "cli/passes/pass_dump.h"
#include "cli/quantise/compile_calibrated.h"
#include "compiler/vendor_config.h"
#include "device/cpu/capabilities/capabilities.h"
#include "graph/network/network.h"
#include "lowering/operators/operator_table.h"
#include "lowering/shape_profile.h"

namespace millrace::cli {
namespace {

bool is_given(const CompileFlags& flags, std::string_view option) {
  return std::ranges::find(flags.given, option) != flags.given.end();
}

// The settings of a compilation: the flags, completed by the configuration file.
struct Settings {
  CompileFlags flags;
  uint32_t columns = graph::kColumnsOfAUnit;
};

// Returns the flags, completed by the settings of the configuration file. Notes settings that are
// ignored.
Result<Settings> read_settings(const CompileArguments& arguments, const TakeNote& take_note) {
  Settings settings{arguments.flags};
  if (arguments.config.empty()) return settings;
  CompileFlags& flags = settings.flags;
  MILLRACE_ASSIGN_OR_RETURN(const compiler::VendorConfig config,
                            compiler::read_vendor_config(arguments.config));
  if (config.batch_size && !is_given(flags, "--batch")) flags.batch = *config.batch_size;
  if (config.precision && !is_given(flags, "--precision"))
    flags.precision = graph::name_of(*config.precision);
  if (!config.ignored.empty())
    take_note(fmt::format("note: {}: these settings are ignored: {}", arguments.config,
                          fmt::join(config.ignored, ", ")));
  settings.columns = config.columns();
  return settings;
}

// Adds the profiles to the model. Lowers the model with each of them, so that every profile of an
// archive can be loaded.
Status add_profiles(const std::vector<std::string>& arguments, graph::CompiledModel* model) {
  if (!arguments.empty() && model->network == nullptr)
    return invalid_argument("--profile is for dynamic models; the shapes of this one are static");
  for (const std::string& argument : arguments) {
    MILLRACE_ASSIGN_OR_RETURN(graph::ShapeProfile profile, parse_profile(*model, argument));
    if (std::ranges::count(model->profiles, profile.name, &graph::ShapeProfile::name) != 0)
      return invalid_argument(
          fmt::format("--profile: two profiles are named \"{}\"", profile.name));
    MILLRACE_RETURN_IF_ERROR(
        lowering::lower_profile(*model, device::cpu::capabilities(), profile).status());
    model->profiles.push_back(std::move(profile));
  }
  return {};
}

// Notes leading dimensions that are assumed to be a batch. If one is not, results are
// wrong, since each of its entries becomes a frame of its own.
void note_assumed_frames(const std::vector<compiler::AssumedFrame>& frames,
                         const TakeNote& take_note) {
  for (const compiler::AssumedFrame& frame : frames) {
    std::vector<std::string> dims;
    for (const int64_t dim : frame.kept_open)
      dims.push_back(dim == network::Dimension::kOpen ? "?" : std::to_string(dim));
    take_note(fmt::format(
        "note: the leading dimension of input \"{0}\" is open and assumed to be the batch, so it "
        "is fixed to 1; if it is none, keep it open with --input-shape {2}={1}",
        frame.input, fmt::join(dims, ","), shell_word(frame.input)));
  }
}

// Notes a model of a later opset than those whose operators are known. If an operator
// has changed since without a new name or attribute, results are wrong.
void note_later_opset(int opset, const TakeNote& take_note) {
  take_note(fmt::format(
      "note: the model uses opset {} of domain ai.onnx; its operators are taken for those of opset "
      "{}, the last that is known",
      opset, lowering::kMaxOpset));
}

// Returns the options that differ from their defaults and that only calibration uses.
std::vector<std::string_view> calibration_options(const CalibrationFlags& flags) {
  const CalibrationFlags usual;
  const std::pair<std::string_view, bool> options[] = {
      {"--keep", !flags.keep.empty()},
      {"--calibrate-samples", flags.samples != usual.samples},
      {"--calibrate-method", flags.method != usual.method},
      {"--quantise-outputs", flags.quantise_outputs},
      {"--power-of-two-scales", flags.power_of_two_scales},
      {"--no-equalisation", flags.no_equalisation},
      {"--no-bias-correction", flags.no_bias_correction}};
  std::vector<std::string_view> given;
  for (const auto& [name, is_given] : options)
    if (is_given) given.push_back(name);
  return given;
}

// Options without effect are no error: scripts pass the same options for several precisions.
void note_unused_options(const CalibrationFlags& flags, const TakeNote& take_note) {
  if (const auto unused = calibration_options(flags); !unused.empty())
    take_note(fmt::format("note: without --precision int8 or auto these have no effect: {}",
                          fmt::join(unused, ", ")));
}

// Compiles the model, with calibration if the precision needs it, or measures the HW views of a
// model that is quantised already on calibration data.
Result<CompiledArchive> compile_with(const CompileArguments& arguments, const CompileFlags& flags,
                                     const CompileObserver& observer, const TakeNote& take_note) {
  CalibrationFlags calibration = arguments.calibration;
  calibration.split_sums = !arguments.emit_qdq.empty() && flags.precision == kInt8;
  if (needs_calibration(flags.precision)) {
    MILLRACE_ASSIGN_OR_RETURN(CalibratedModel made,
                              compile_calibrated(arguments.onnx, flags, calibration, observer));
    return CompiledArchive{.model = std::move(made.model),
                           .report = std::move(made.report),
                           .outputs = made.outputs,
                           .hw_views = std::move(made.hw_views)};
  }
  if (calibration.data.empty()) note_unused_options(calibration, take_note);
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel model,
                            compile_onnx(arguments.onnx, flags, observer));
  CompiledArchive compiled{.model = std::move(model)};
  if (calibration.data.empty()) return compiled;
  MILLRACE_ASSIGN_OR_RETURN(compiled.hw_views, measure_hw_views(compiled.model, calibration));
  return compiled;
}

// Compiles the model, and writes the files of --dump-passes and --emit-qdq on the way.
Result<CompiledArchive> compile_and_dump(const CompileArguments& arguments,
                                         const CompileFlags& flags, const TakeNote& take_note) {
  const bool dumps = !arguments.dump_passes.empty(), exports = !arguments.emit_qdq.empty();
  std::optional<PassDump> dump;
  if (dumps) {
    MILLRACE_ASSIGN_OR_RETURN(dump, PassDump::into(arguments.dump_passes));
  }
  OnnxExport onnx;
  CompileObserver observer;
  observer.on_assumed_frames = [&](const auto& frames) { note_assumed_frames(frames, take_note); };
  observer.on_later_opset = [&](int opset) { note_later_opset(opset, take_note); };
  if (dumps || exports) {
    observer.on_stage = [&](std::string_view stage, const graph::Graph& graph) {
      if (dumps) dump->write(stage, graph);
      if (exports) onnx.see(stage, graph);
    };
  }
  auto compiled = compile_with(arguments, flags, observer, take_note);
  if (dumps) MILLRACE_RETURN_IF_ERROR(dump->status());
  if (dumps && compiled.ok() && compiled->model.network != nullptr)
    return invalid_argument(
        "--dump-passes: some shapes of this model are known only when a job runs, so the passes "
        "run then; fix its open dimensions with --input-shape to dump them");
  if (exports && compiled.ok()) MILLRACE_RETURN_IF_ERROR(onnx.write(arguments.emit_qdq));
  return compiled;
}

}  // namespace

Status check_compile(const CompileArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_compile_flags(arguments.flags));
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.tune_shapes));
  if (needs_calibration(arguments.flags.precision))
    return check_calibration(arguments.flags, arguments.calibration);
  if (!arguments.calibration.report.empty() || !arguments.calibration.accuracy_target.empty())
    return invalid_argument("--accuracy-target and --report are for --precision int8 and auto");
  return picture_options(arguments.calibration.picture).status();
}

Result<CompiledArchive> compile_model(const CompileArguments& arguments,
                                      const TakeNote& take_note) {
  MILLRACE_ASSIGN_OR_RETURN(Settings settings, read_settings(arguments, take_note));
  MILLRACE_ASSIGN_OR_RETURN(CompiledArchive compiled,
                            compile_and_dump(arguments, settings.flags, take_note));
  MILLRACE_RETURN_IF_ERROR(add_profiles(arguments.profiles, &compiled.model));
  compiled.flags = std::move(settings.flags);
  compiled.columns = settings.columns;
  return compiled;
}

}  // namespace millrace::cli
