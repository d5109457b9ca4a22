// The work is done by quantise::quantise() for int8 and quantise::mix_precisions() for auto; here
// their options are checked and made. Both compile each candidate graph by lowering::finish(). The
// final graph is compiled once more if the observer is to see its passes.
#include "cli/quantise/compile_calibrated.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <variant>

#include "cli/progress.h"
#include "cli/quantise/calibration_data.h"
#include "cli/quantise/fill_report.h"
#include "lowering/finish.h"
#include "quantise/mix_precisions.h"
#include "quantise/quantise.h"

namespace millrace::cli {
namespace {

using quantise::MixOptions;
using quantise::QuantiseOptions;

constexpr const char* kUsualTarget = "1%";  // default for --precision auto

Result<QuantiseOptions> int8_options(const CalibrationFlags& flags) {
  QuantiseOptions options;
  const auto method = quantise::parse_range_method(flags.method);
  if (!method) return invalid_argument("--calibrate-method: there is no method " + flags.method);
  options.method = *method;
  options.float_names.insert(flags.keep.begin(), flags.keep.end());
  options.quantise_outputs = flags.quantise_outputs;
  options.power_of_two_scales = flags.power_of_two_scales;
  options.equalise = !flags.no_equalisation;
  options.correct_bias = !flags.no_bias_correction;
  if (flags.accuracy_target.empty()) return options;
  MILLRACE_ASSIGN_OR_RETURN(options.max_error, parse_share(flags.accuracy_target));
  return options;
}

Result<MixOptions> mix_options(const CalibrationFlags& flags) {
  if (flags.quantise_outputs || flags.power_of_two_scales || flags.no_equalisation ||
      flags.no_bias_correction || flags.method != CalibrationFlags().method)
    return invalid_argument(
        "--calibrate-method, --quantise-outputs, --power-of-two-scales, --no-equalisation and "
        "--no-bias-correction are for --precision int8: auto quantises nothing");
  MixOptions options;
  MILLRACE_ASSIGN_OR_RETURN(
      options.max_error,
      parse_share(flags.accuracy_target.empty() ? kUsualTarget : flags.accuracy_target));
  return options;
}

using Options = std::variant<QuantiseOptions, MixOptions>;

Result<Options> options_from(const CompileFlags& flags, const CalibrationFlags& calibration) {
  if (calibration.data.empty())
    return invalid_argument(
        fmt::format("--precision {} needs typical inputs to measure the model with: give files or "
                    "a folder with --calibrate",
                    flags.precision));
  if (flags.precision == kInt8) {
    MILLRACE_ASSIGN_OR_RETURN(QuantiseOptions options, int8_options(calibration));
    options.float_names.insert(flags.full_precision.begin(), flags.full_precision.end());
    return Options(std::move(options));
  }
  MILLRACE_ASSIGN_OR_RETURN(MixOptions options, mix_options(calibration));
  for (const auto& names : {calibration.keep, flags.full_precision})
    options.fp32_names.insert(names.begin(), names.end());
  return Options(std::move(options));
}

// For --precision auto, nodes named by --keep compute in FP32.
Result<lowering::LoweringOptions> lowering_from(const CompileFlags& flags,
                                                const CalibrationFlags& calibration) {
  MILLRACE_ASSIGN_OR_RETURN(lowering::LoweringOptions lowering, lowering_options(flags));
  lowering.attention_in_parts = true;
  if (flags.precision == kAuto)
    lowering.full_precision.insert(calibration.keep.begin(), calibration.keep.end());
  return lowering;
}

Result<quantise::QuantisedModel> choose(const graph::CompiledModel& exact,
                                        std::span<const quantise::Sample> samples,
                                        const QuantiseOptions& options) {
  return quantise::quantise(exact, samples, options);
}

Result<quantise::QuantisedModel> choose(const graph::CompiledModel& exact,
                                        std::span<const quantise::Sample> samples,
                                        const MixOptions& options) {
  return quantise::mix_precisions(exact, samples, options);
}

}  // namespace

Result<quantise::HwViewCost> measure_hw_views(const graph::CompiledModel& model,
                                              const CalibrationFlags& calibration) {
  if (!graph::has_requantised_views(model))
    return invalid_argument(
        "--calibrate is for --precision int8 and auto, and for quantised models with requantised "
        "HW views, which this model does not have");
  MILLRACE_ASSIGN_OR_RETURN(const CalibrationData data, load_calibration_data(model, calibration));
  Progress progress("measuring HW views");
  return quantise::measure_hw_views(model, data.samples);
}

Status check_calibration(const CompileFlags& flags, const CalibrationFlags& calibration) {
  MILLRACE_RETURN_IF_ERROR(options_from(flags, calibration).status());
  return picture_options(calibration.picture).status();
}

Result<CalibratedModel> compile_calibrated(const OnnxSource& source, const CompileFlags& flags,
                                           const CalibrationFlags& calibration,
                                           const CompileObserver& observer) {
  MILLRACE_ASSIGN_OR_RETURN(Options options, options_from(flags, calibration));
  MILLRACE_ASSIGN_OR_RETURN(lowering::LoweringOptions lowering, lowering_from(flags, calibration));
  MILLRACE_ASSIGN_OR_RETURN(const graph::CompiledModel exact,
                            compile_fp32(source, flags, calibration.split_sums, observer));
  MILLRACE_ASSIGN_OR_RETURN(CalibrationData data, load_calibration_data(exact, calibration));
  Progress progress("choosing precisions of " + source.path);
  const auto finish = [&](graph::Graph graph) {
    return lowering::finish(std::move(graph), lowering, exact.name);
  };
  Result<quantise::QuantisedModel> made = std::visit(
      [&](auto& chosen) {
        chosen.on_phase = [&](std::string_view phase) { progress.update(phase); };
        chosen.finish = finish;
        return choose(exact, data.samples, chosen);
      },
      options);
  if (!made.ok()) return made.status().with_context(source.path);
  if (observer.on_stage) {
    lowering.on_stage = observer.on_stage;
    MILLRACE_ASSIGN_OR_RETURN(made->model, finish(made->explicit_graph));
  }
  CalibratedModel result;
  result.report = fill_report(*made, exact, flags.precision, calibration, data.samples.size());
  result.report.pictures = std::move(data.pictures);
  result.outputs = made->outputs;
  result.model = std::move(made->model);
  if (graph::has_requantised_views(result.model)) {
    progress.update("measuring HW views");
    MILLRACE_ASSIGN_OR_RETURN(result.hw_views,
                              quantise::measure_hw_views(result.model, data.samples));
  }
  return result;
}

}  // namespace millrace::cli
