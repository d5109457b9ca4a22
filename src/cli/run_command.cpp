// `millrace run`: runs a model on the frames of input files, prints a summary of each output and,
// where asked to, what it found on a photo, and writes outputs, inputs and the photo with that.
// With a sandbox or a time limit a child process does this work, and the parent writes the files.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/files/output_target.h"
#include "cli/commands.h"
#include "cli/detections/photo_detections.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/frames.h"
#include "cli/inputs/picture_note.h"
#include "cli/model_source.h"
#include "cli/notes.h"
#include "cli/run_files.h"
#include "cli/run_report.h"
#include "cli/supervision/output_sink.h"
#include "io/file.h"
#include "io/pictures/canvas.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

Result<LoadedInputs> load_given_inputs(const graph::CompiledModel& model, device::View view,
                                       const RunArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  MILLRACE_ASSIGN_OR_RETURN(const auto files, resolve_inputs(model, arguments.inputs));
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes shapes, parse_shapes(model, arguments.shapes));
  return load_inputs(model, view, files, shapes, picture);
}

// Prints a note about outputs with more classes than there are labels: the file is of another
// model.
void note_fewer_labels(const graph::CompiledModel& model, const JobBuffers& job, size_t labels) {
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const tensor::TensorDesc output = job.output_boundary(0, i).cpu;
    if (output.elements() > labels)
      print_note(fmt::format("--labels names {} classes, but output '{}' has {} values", labels,
                             output.name, output.elements()));
  }
}

// Summarises all outputs of all frames.
Result<std::vector<FrameReport>> report_on(const graph::CompiledModel& model, device::View view,
                                           const LoadedInputs& inputs,
                                           const std::vector<JobBuffers>& jobs,
                                           const std::vector<std::string>& labels, uint32_t top) {
  std::vector<FrameReport> frames;
  for (uint32_t frame = 0; frame < inputs.frames; ++frame) {
    const JobBuffers& job = jobs[frame / model.batch_size];
    const uint32_t of_job = frame % model.batch_size;
    FrameReport report{
        .source = inputs.names[frame], .outputs = {}, .detections = {}, .segments = {}};
    for (size_t i = 0; i < model.outputs.size(); ++i) {
      const graph::Boundary output = job.output_boundary(of_job, i);
      MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                                values_of(output, view, job.output(of_job, i)));
      report.outputs.push_back(summary_of(desc_in(output, view), values, labels, top));
    }
    frames.push_back(std::move(report));
  }
  return frames;
}

// Draws what the network has found on the photo, which are the segments of one that segments and
// the boxes of a detector, and adds them to its report. Returns the photo with them, as a file.
Result<std::vector<std::byte>> draw_findings(const graph::CompiledModel& model,
                                             const LoadedInputs& inputs, device::View view,
                                             const JobBuffers& job,
                                             const std::vector<std::string>& labels,
                                             const RunArguments& arguments, io::Canvas& photo,
                                             FrameReport* report) {
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  std::vector<DetectorOutput> outputs;
  for (size_t i = 0; i < report->outputs.size(); ++i) {
    const graph::Boundary output = job.output_boundary(0, i);
    MILLRACE_ASSIGN_OR_RETURN(std::vector<float> values, values_of(output, view, job.output(0, i)));
    outputs.push_back(detector_output(model, output, std::move(values)));
  }
  const tensor::TensorDesc& input = inputs.boundaries.front().cpu;
  const auto least_score = static_cast<float>(arguments.least_score);
  const InputSize size{.width = input.shape[3], .height = input.shape[2]};
  if (const auto map = class_map_in(outputs, size, least_score)) {
    report->segments = draw_segments(*map, input, picture.fit, labels, photo);
  } else {
    MILLRACE_ASSIGN_OR_RETURN(report->detections, detections_on_photo(outputs, input, picture.fit,
                                                                      photo, least_score, labels));
    draw_detections(*report->detections, photo);
  }
  Result<std::vector<std::byte>> file = photo.encode(io::writable_format(arguments.draw));
  if (!file.ok()) return file.status().with_context("--draw " + arguments.draw);
  return file;
}

Status load_and_run(const RunArguments& arguments, const OutputSink& sink) {
  const device::View view = arguments.view == "hw" ? device::View::kHw : device::View::kCpu;
  std::vector<std::string> labels;
  if (!arguments.labels.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(labels, io::read_lines(arguments.labels));
  }
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t memory_limit,
                            parse_memory_limit(arguments.limits.memory));
  MILLRACE_ASSIGN_OR_RETURN(auto opened, open_model(arguments.model, arguments.flags));
  // Before the model runs: should it take over the process, it can add no other file.
  MILLRACE_ASSIGN_OR_RETURN(const auto files, files_of_run(*opened, arguments));
  if (!files.empty()) MILLRACE_RETURN_IF_ERROR(sink.settle(files));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded,
                            load_on(arguments.device, std::move(opened), memory_limit));
  const graph::CompiledModel& model = loaded.program->model();
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs inputs, load_given_inputs(model, view, arguments));
  note_unstated_preprocessing(model, inputs, arguments.picture);
  std::optional<io::Canvas> photo;
  if (!arguments.draw.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(photo, open_photo(inputs, arguments.draw));
  }
  MILLRACE_RETURN_IF_ERROR(write_inputs(model, inputs, arguments, sink));
  MILLRACE_ASSIGN_OR_RETURN(const auto session,
                            runtime::Session::create(loaded.device, loaded.program));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto jobs, run_frames(*session, inputs, /*input_view=*/view, /*output_view=*/view));
  if (arguments.top > 0 && !labels.empty() && !jobs.empty())
    note_fewer_labels(model, jobs.front(), labels.size());
  MILLRACE_ASSIGN_OR_RETURN(std::vector<FrameReport> report,
                            report_on(model, view, inputs, jobs, labels, arguments.top));
  std::vector<std::byte> drawn;
  if (photo) {
    MILLRACE_ASSIGN_OR_RETURN(drawn, draw_findings(model, inputs, view, jobs.front(), labels,
                                                   arguments, *photo, &report.front()));
  }
  (arguments.json ? print_run_json : print_run_text)(report);
  if (photo) MILLRACE_RETURN_IF_ERROR(sink(kDrawnPicture, drawn));
  if (arguments.output_dir.empty() || jobs.empty()) return {};
  return write_outputs(model, view, jobs, inputs.frames, arguments, sink);
}

}  // namespace

Status check_run(const RunArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(picture_options(arguments.picture).status());
  MILLRACE_RETURN_IF_ERROR(check_limits(arguments.limits));
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  if (arguments.output_format == kNpy && arguments.view == "hw")
    return invalid_argument("--output-format npy is for --view cpu: arrays have no padding");
  MILLRACE_RETURN_IF_ERROR(check_drawing(arguments.draw));
  if (!arguments.labels.empty() && arguments.top == 0 && arguments.draw.empty())
    return invalid_argument("--labels requires --top or --draw");
  MILLRACE_RETURN_IF_ERROR(check_saved_inputs(arguments));
  return check_flags(arguments.model, arguments.flags);
}

Status run_model(const RunArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output_folder(arguments.output_dir));
  const NamedFiles named = named_files(arguments);
  for (const auto& [name, path] : named) MILLRACE_RETURN_IF_ERROR(check_output(path));
  return run_within(
      arguments.limits, [&](const OutputSink& sink) { return load_and_run(arguments, sink); },
      files_in(arguments.output_dir, named, /*announces=*/!arguments.json));
}

}  // namespace millrace::cli
