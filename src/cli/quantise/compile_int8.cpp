#include "cli/quantise/compile_int8.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/data/data_set.h"
#include "cli/progress.h"
#include "cli/quantise/fill_report.h"
#include "lowering/assemble.h"
#include "lowering/finish.h"
#include "quantise/quantise.h"
#include "quantise/rewrite/split_sums.h"

namespace millrace::cli {
namespace {

// "1%" or "0.01"; more than 0 and less than 1.
Result<double> parse_share(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  if (rest == "%") number /= 100;
  if (error == std::errc() && (rest.empty() || rest == "%") && number > 0 && number < 1)
    return number;
  return invalid_argument(fmt::format(
      "--accuracy-target: '{}' is no share between 0 and 1; write it like 1% or 0.01", text));
}

Result<quantise::QuantiseOptions> options_from(const CalibrationFlags& flags) {
  quantise::QuantiseOptions options;
  const auto method = quantise::parse_range_method(flags.method);
  if (!method) return invalid_argument("--calibrate-method: no method is named " + flags.method);
  options.method = *method;
  options.keep.insert(flags.keep.begin(), flags.keep.end());
  options.quantise_outputs = flags.quantise_outputs;
  options.power_of_two_scales = flags.power_of_two_scales;
  options.equalise = !flags.no_equalisation;
  options.correct_bias = !flags.no_bias_correction;
  if (flags.accuracy_target.empty()) return options;
  MILLRACE_ASSIGN_OR_RETURN(options.accuracy_target, parse_share(flags.accuracy_target));
  return options;
}

// The floating point program: one frame, with the views that any has.
Result<graph::CompiledModel> compile_fp32(const std::string& path, CompileFlags flags,
                                          bool split_sums, const CompileObserver& observer) {
  flags.precision = "fp32";
  flags.batch = 1;
  flags.hw_layouts.clear();
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel model,
                            compile_onnx(path, flags, {{}, observer.on_assumed_frames}));
  if (model.network != nullptr)
    return unsupported(fmt::format(
        "{} has open shapes, and a range is calibrated for one shape: fix them with --input-shape",
        path));
  if (!split_sums) return model;
  MILLRACE_ASSIGN_OR_RETURN(const lowering::LoweringOptions options, lowering_options(flags));
  return lowering::assemble(quantise::split_sums(model.graph), options, model.name);
}

// What the model is calibrated on, and the pictures among it, for the report.
struct CalibrationData {
  std::vector<quantise::Sample> samples;
  std::vector<ReportPicture> pictures;
};

Status add_picture(DataSet& data, size_t index, std::vector<ReportPicture>& pictures) {
  constexpr uint32_t kSide = 96;
  MILLRACE_ASSIGN_OR_RETURN(auto png, data.thumbnail(index, kSide));
  if (png)
    pictures.push_back(
        {std::filesystem::path(data.name(index)).filename().string(), *std::move(png)});
  return {};
}

Result<CalibrationData> load_data(const graph::CompiledModel& model,
                                  const CalibrationFlags& flags) {
  constexpr size_t kPictures = 24;
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(flags.picture));
  MILLRACE_ASSIGN_OR_RETURN(DataSet data, DataSet::open(model.inputs, flags.data, picture));
  CalibrationData loaded;
  Progress progress("reading calibration data");
  for (const size_t index : data.spread(flags.samples)) {
    MILLRACE_ASSIGN_OR_RETURN(Sample sample, data.load(index));
    progress.update(sample.name);
    loaded.samples.push_back(std::move(sample));
    if (!flags.report.empty() && loaded.pictures.size() < kPictures)
      MILLRACE_RETURN_IF_ERROR(add_picture(data, index, loaded.pictures));
  }
  return loaded;
}

}  // namespace

Result<Int8Model> compile_int8(const std::string& path, const CompileFlags& flags,
                               const CalibrationFlags& calibration,
                               const CompileObserver& observer) {
  if (calibration.data.empty())
    return invalid_argument(
        "--precision int8 needs typical inputs: give files or a folder with --calibrate");
  MILLRACE_ASSIGN_OR_RETURN(quantise::QuantiseOptions options, options_from(calibration));
  MILLRACE_ASSIGN_OR_RETURN(lowering::LoweringOptions lowering, lowering_options(flags));
  MILLRACE_ASSIGN_OR_RETURN(const graph::CompiledModel exact,
                            compile_fp32(path, flags, calibration.split_sums, observer));
  MILLRACE_ASSIGN_OR_RETURN(CalibrationData data, load_data(exact, calibration));
  Progress progress("quantising " + path);
  options.on_step = [&](std::string_view part) { progress.update(part); };
  options.finish = [&](graph::Graph graph) {
    return lowering::finish(std::move(graph), lowering, exact.name);
  };
  Result<quantise::QuantisedModel> made = quantise::quantise(exact, data.samples, options);
  if (!made.ok()) return made.status().with_context(path);
  if (observer.on_stage) {
    lowering.on_stage = observer.on_stage;
    MILLRACE_ASSIGN_OR_RETURN(made->model, options.finish(made->explicit_graph));
  }
  Int8Model result;
  result.report = fill_report(*made, exact, calibration, data.samples.size());
  result.report.pictures = std::move(data.pictures);
  result.outputs = made->outputs;
  result.model = std::move(made->model);
  return result;
}

}  // namespace millrace::cli
