// `millrace run`: runs a model on the frames of input files, prints a summary of each output and,
// with --output-dir, writes the outputs. With a sandbox or a time limit a child process does this
// work, and the parent writes the files.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/files/output_target.h"
#include "cli/commands.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/frames.h"
#include "cli/inputs/picture_note.h"
#include "cli/model_source.h"
#include "cli/notes.h"
#include "cli/run_report.h"
#include "cli/supervision/output_sink.h"
#include "io/file.h"
#include "io/npy.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

constexpr const char* kNpy = "npy";

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
    FrameReport report{inputs.names[frame], {}};
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

// Returns the frames of an output, one after another, as the file of a NumPy array. Types that
// NumPy does not have are widened to FLOAT32.
Result<std::vector<std::byte>> as_array(const graph::Boundary& output, uint32_t frames,
                                        std::vector<std::byte> bytes) {
  io::Array array{output.cpu.type, output.cpu.shape, std::move(bytes)};
  if (frames > 1) array.shape.insert(array.shape.begin(), frames);
  Result<std::vector<std::byte>> file = io::npy_bytes(array);
  if (file.ok()) return file;
  std::vector<std::byte> wide;
  for (size_t at = 0; at < array.bytes.size(); at += output.cpu.bytes()) {
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                              values_of(output, device::View::kCpu, array.bytes.data() + at));
    const auto of_frame = std::as_bytes(std::span(values));
    wide.insert(wide.end(), of_frame.begin(), of_frame.end());
  }
  return io::npy_bytes({tensor::DataType::kFloat32, array.shape, std::move(wide)});
}

// Returns the names of the output files in the format that the command line chooses.
std::vector<std::string> file_names(const graph::CompiledModel& model,
                                    const RunArguments& arguments) {
  std::vector<std::string> names = output_file_names(model);
  if (arguments.output_format == kNpy)
    for (std::string& name : names) name.replace(name.rfind('.'), std::string::npos, ".npy");
  return names;
}

// Writes one file per output: all frames in order, as the bytes of `view` or as an array.
Status write_outputs(const graph::CompiledModel& model, device::View view,
                     const std::vector<JobBuffers>& jobs, uint32_t frames,
                     const RunArguments& arguments, const OutputSink& sink) {
  const std::vector<std::string> names = file_names(model, arguments);
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const graph::Boundary first = jobs[0].output_boundary(0, i);
    std::vector<std::byte> bytes;
    bool same_shape = true;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const JobBuffers& job = jobs[frame / model.batch_size];
      const std::byte* data = job.output(frame % model.batch_size, i);
      const graph::Boundary output = job.output_boundary(frame % model.batch_size, i);
      same_shape = same_shape && output.cpu.shape == first.cpu.shape;
      bytes.insert(bytes.end(), data, data + desc_in(output, view).bytes());
    }
    if (arguments.output_format == kNpy) {
      if (!same_shape)
        return unsupported(fmt::format(
            "output '{}' has not the same shape in all frames, so they are no array: choose "
            "--output-format bin",
            first.cpu.name));
      MILLRACE_ASSIGN_OR_RETURN(bytes, as_array(first, frames, std::move(bytes)));
    }
    MILLRACE_RETURN_IF_ERROR(sink(names[i], bytes));
  }
  return {};
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
  if (!arguments.output_dir.empty())
    MILLRACE_RETURN_IF_ERROR(sink.settle(file_names(*opened, arguments)));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded,
                            load_on(arguments.device, std::move(opened), memory_limit));
  const graph::CompiledModel& model = loaded.program->model();
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs inputs, load_given_inputs(model, view, arguments));
  note_unstated_preprocessing(model, inputs, arguments.picture);
  MILLRACE_ASSIGN_OR_RETURN(const auto session,
                            runtime::Session::create(loaded.device, loaded.program));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto jobs, run_frames(*session, inputs, /*input_view=*/view, /*output_view=*/view));
  if (!labels.empty() && !jobs.empty()) note_fewer_labels(model, jobs.front(), labels.size());
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<FrameReport> report,
                            report_on(model, view, inputs, jobs, labels, arguments.top));
  (arguments.json ? print_run_json : print_run_text)(report);
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
  return check_flags(arguments.model, arguments.flags);
}

Status run_model(const RunArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output_folder(arguments.output_dir));
  return run_within(
      arguments.limits, [&](const OutputSink& sink) { return load_and_run(arguments, sink); },
      files_in(arguments.output_dir));
}

}  // namespace millrace::cli
