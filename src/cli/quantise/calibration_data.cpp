#include "cli/quantise/calibration_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "cli/data/data_set.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/picture_note.h"
#include "cli/progress.h"
#include "lowering/assemble.h"
#include "quantise/rewrite/split_sums.h"

namespace millrace::cli {
namespace {

// Adds a small picture of the sample, if it is one.
Status add_picture(DataSet& data, size_t index, std::vector<ReportPicture>& pictures) {
  constexpr uint32_t kSide = 96;
  MILLRACE_ASSIGN_OR_RETURN(auto png, data.thumbnail(index, kSide));
  if (png)
    pictures.push_back(
        {std::filesystem::path(data.name(index)).filename().string(), *std::move(png)});
  return {};
}

Status refuse_open(const graph::CompiledModel& model) {
  if (std::ranges::any_of(model.inputs, &graph::Boundary::open))
    return shapes_missing(model.inputs, "--input-shape");
  return unsupported("shapes inside the model depend on elements");
}

}  // namespace

Result<double> parse_share(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  if (rest == "%") number /= 100;
  if (error == std::errc() && (rest.empty() || rest == "%") && number > 0 && number < 1)
    return number;
  return invalid_argument(fmt::format(
      "--accuracy-target: '{}' is not a share between 0 and 1; write it like 1% or 0.01", text));
}

Result<graph::CompiledModel> compile_fp32(const OnnxSource& source, CompileFlags flags,
                                          bool split_sums, const CompileObserver& observer) {
  flags.precision = "fp32";
  flags.batch = 1;
  flags.attention_in_parts = true;
  flags.hw_layouts.clear();
  MILLRACE_ASSIGN_OR_RETURN(
      graph::CompiledModel model,
      compile_onnx(source, flags, {{}, observer.on_assumed_frames, observer.on_later_opset}));
  if (model.network != nullptr)
    return refuse_open(model).with_context(source.path + ": calibration needs static shapes");
  if (!split_sums) return model;
  MILLRACE_ASSIGN_OR_RETURN(const lowering::LoweringOptions options, lowering_options(flags));
  return lowering::assemble(quantise::split_sums(model.graph), options, model.name);
}

Result<CalibrationData> load_calibration_data(const graph::CompiledModel& model,
                                              const CalibrationFlags& flags) {
  constexpr size_t kPictures = 24;
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(flags.picture));
  MILLRACE_ASSIGN_OR_RETURN(DataSet data, DataSet::open(model.inputs, flags.data, picture));
  if (const auto input = data.input_of_pictures())
    note_unstated_preprocessing(model, model.inputs[*input], flags.picture);
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

}  // namespace millrace::cli
