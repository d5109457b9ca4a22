// `millrace run`: runs a model on the frames of input files, prints a summary of each output and,
// with --output-dir, writes the outputs. With a sandbox or a time limit a child process does this
// work, and the parent writes the files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "cli/commands.h"
#include "cli/evaluate/scores.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/frames.h"
#include "cli/model_source.h"
#include "cli/print_escaped.h"
#include "cli/supervision/output_sink.h"
#include "io/file.h"
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

void print_summary(const graph::Boundary& boundary, device::View view,
                   const std::vector<float>& values) {
  const tensor::TensorDesc& desc = desc_in(boundary, view);
  if (values.empty()) {
    print_escaped("{}  {} {} [{}]  empty\n", desc.name, to_string(desc.type),
                  to_string(desc.layout), fmt::join(desc.shape, ","));
    return;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  print_escaped("{}  {} {} [{}]  min {:.6g} max {:.6g} mean {:.6g}\n", desc.name,
                to_string(desc.type), to_string(desc.layout), fmt::join(desc.shape, ","), *low,
                *high, sum / static_cast<double>(values.size()));
}

void print_top(const std::vector<float>& values, const std::vector<std::string>& labels,
               uint32_t top) {
  std::vector<size_t> ranking(values.size());
  std::iota(ranking.begin(), ranking.end(), size_t{0});
  const size_t count = std::min<size_t>(top, ranking.size());
  std::partial_sort(ranking.begin(), ranking.begin() + static_cast<ptrdiff_t>(count), ranking.end(),
                    [&](size_t a, size_t b) { return quantise::ranks_before(values, a, b); });
  for (size_t i = 0; i < count; ++i)
    print_escaped("  {}. {} {:.6g}{}{}\n", i + 1, ranking[i], values[ranking[i]],
                  ranking[i] < labels.size() ? "  " : "",
                  ranking[i] < labels.size() ? labels[ranking[i]] : "");
}

Status print_outputs(const graph::CompiledModel& model, device::View view,
                     const JobBuffers& buffers, uint32_t frame_of_job,
                     const std::vector<std::string>& labels, uint32_t top) {
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const graph::Boundary output = buffers.output_boundary(frame_of_job, i);
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                              values_of(output, view, buffers.output(frame_of_job, i)));
    print_summary(output, view, values);
    if (top > 0) print_top(values, labels, top);
  }
  return {};
}

// Returns a file name for each output, all different. Names that are equal once '/' and unprintable
// characters are replaced get a number.
std::vector<std::string> output_file_names(const graph::CompiledModel& model) {
  std::vector<std::string> names;
  for (const graph::Boundary& output : model.outputs) {
    const std::string name = file_name_part(output.cpu.name);
    std::string unique = name;
    for (int i = 2; std::find(names.begin(), names.end(), unique + ".bin") != names.end(); ++i)
      unique = fmt::format("{}.{}", name, i);
    names.push_back(unique + ".bin");
  }
  return names;
}

// Writes one file per output: the bytes of all frames in order, in the format of `view`.
Status write_outputs(const graph::CompiledModel& model, device::View view,
                     const std::vector<JobBuffers>& jobs, uint32_t frames, const OutputSink& sink) {
  const std::vector<std::string> names = output_file_names(model);
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    std::vector<std::byte> bytes;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const JobBuffers& job = jobs[frame / model.batch_size];
      const std::byte* data = job.output(frame % model.batch_size, i);
      const graph::Boundary output = job.output_boundary(frame % model.batch_size, i);
      bytes.insert(bytes.end(), data, data + desc_in(output, view).bytes());
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
    MILLRACE_RETURN_IF_ERROR(sink.settle(output_file_names(*opened)));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded,
                            load_on(arguments.device, std::move(opened), memory_limit));
  const graph::CompiledModel& model = loaded.program->model();
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs inputs, load_given_inputs(model, view, arguments));
  MILLRACE_ASSIGN_OR_RETURN(const auto session,
                            runtime::Session::create(loaded.device, loaded.program));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto jobs, run_frames(*session, inputs, /*input_view=*/view, /*output_view=*/view));
  for (uint32_t frame = 0; frame < inputs.frames; ++frame) {
    if (inputs.frames > 1) print_escaped("frame {}\n", frame);
    MILLRACE_RETURN_IF_ERROR(print_outputs(model, view, jobs[frame / model.batch_size],
                                           frame % model.batch_size, labels, arguments.top));
  }
  if (arguments.output_dir.empty()) return {};
  return write_outputs(model, view, jobs, inputs.frames, sink);
}

}  // namespace

Status run_model(const RunArguments& arguments) {
  return run_within(
      arguments.limits, [&](const OutputSink& sink) { return load_and_run(arguments, sink); },
      files_in(arguments.output_dir));
}

}  // namespace millrace::cli
