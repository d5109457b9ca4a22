// `millrace golden`: runs a model on the inputs that a board had, and compares the outputs with the
// files that the board's sample programs wrote. The shapes of open outputs are known only after the
// run, so the files of such a model are searched then; otherwise they are checked before it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/files/output_target.h"
#include "cli/commands.h"
#include "cli/golden/golden_junit.h"
#include "cli/golden/golden_report.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/frames.h"
#include "cli/inputs/input_files.h"
#include "cli/inputs/picture_note.h"
#include "cli/model_source.h"
#include "io/file.h"
#include "io/npy.h"

namespace millrace::cli {
namespace {

using device::View;

std::optional<View> view_named(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text == "hw" ? View::kHw : View::kCpu;
}

// Returns NAME=FILE for every input: as given, or from a directory by the names of the inputs.
std::vector<std::string> input_arguments(const graph::CompiledModel& model,
                                         const GoldenArguments& arguments) {
  if (arguments.inputs_from.empty()) return arguments.inputs;
  std::vector<std::string> inputs;
  for (const graph::Boundary& input : model.inputs) {
    const auto stem = std::filesystem::path(arguments.inputs_from) / file_name_part(input.cpu.name);
    const std::string array = stem.string() + ".npy";
    inputs.push_back(fmt::format("{}={}", input.cpu.name,
                                 std::filesystem::exists(array) ? array : stem.string() + ".bin"));
  }
  return inputs;
}

// Computes all outputs in the CPU view, which is bit for bit the converted HW view.
Result<std::vector<JobBuffers>> compute(const LoadedModel& loaded, const LoadedInputs& inputs,
                                        View input_view) {
  MILLRACE_ASSIGN_OR_RETURN(const auto session,
                            runtime::Session::create(loaded.device, loaded.program));
  return run_frames(*session, inputs, input_view, View::kCpu);
}

Status append_values(const graph::Boundary& boundary, View view, const std::byte* data,
                     std::vector<float>* values) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> frame, values_of(boundary, view, data));
  values->insert(values->end(), frame.begin(), frame.end());
  return {};
}

// Returns the model with the shapes that the jobs gave to its open outputs. These must be the same
// in all frames, since a file holds frames of one size.
Result<graph::CompiledModel> settled_outputs(graph::CompiledModel model,
                                             const std::vector<JobBuffers>& jobs, uint32_t frames) {
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const graph::Boundary first = jobs[0].output_boundary(0, i);
    for (uint32_t frame = 1; frame < frames; ++frame) {
      const JobBuffers& job = jobs[frame / model.batch_size];
      if (job.output_boundary(frame % model.batch_size, i).cpu != first.cpu)
        return unsupported(fmt::format("output '{}' has another shape in frame {} than in frame 0",
                                       first.cpu.name, frame));
    }
    model.outputs[i] = first;
  }
  return model;
}

// Returns the frames of a file, in its view.
Result<std::vector<std::byte>> bytes_of(const DumpedFile& file, const graph::Boundary& boundary) {
  if (!file.array) return io::read_file(file.path);
  MILLRACE_ASSIGN_OR_RETURN(const io::Array array, io::read_npy(file.path));
  return frames_of(array, boundary.cpu, file.path);
}

Result<ComparedFile> compare_file(const graph::CompiledModel& model, const DumpedFile& file,
                                  const std::vector<JobBuffers>& jobs, uint32_t our_frames,
                                  const Tolerances& tolerances) {
  const graph::Boundary& boundary = model.outputs[file.output];
  MILLRACE_ASSIGN_OR_RETURN(const auto bytes, bytes_of(file, boundary));
  const size_t frame_bytes = desc_in(boundary, file.view).bytes();
  const uint32_t frames = std::min(our_frames, file.frames);
  if (bytes.size() < frames * frame_bytes)
    return invalid_argument(fmt::format("{} has become shorter meanwhile", file.path));
  std::vector<float> ours, theirs;
  for (uint32_t frame = 0; frame < frames; ++frame) {
    const JobBuffers& job = jobs[frame / model.batch_size];
    const std::byte* computed = job.output(frame % model.batch_size, file.output);
    MILLRACE_RETURN_IF_ERROR(append_values(boundary, View::kCpu, computed, &ours));
    MILLRACE_RETURN_IF_ERROR(
        append_values(boundary, file.view, bytes.data() + frame * frame_bytes, &theirs));
  }
  return ComparedFile{file, boundary.cpu.name, compare(boundary, ours, theirs, tolerances)};
}

Tolerances tolerances_of(const GoldenArguments& arguments) {
  return {.steps = arguments.tolerance_steps,
          .relative = arguments.relative_tolerance,
          .absolute = arguments.absolute_tolerance,
          .cosine = arguments.cosine};
}

}  // namespace

Status check_golden(const GoldenArguments& arguments) {
  if (arguments.directory.empty() == arguments.outputs.empty())
    return invalid_argument(
        "golden takes either a folder of outputs, or an --output NAME=FILE for each, not both");
  MILLRACE_RETURN_IF_ERROR(picture_options(arguments.picture).status());
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  return check_flags(arguments.model, arguments.flags);
}

Result<int> run_golden(const GoldenArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output(arguments.junit));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded,
                            load_model(arguments.model, arguments.flags, arguments.device, 0,
                                       {.stated_precision = true}));
  graph::CompiledModel model = loaded.program->model();
  const bool open_outputs = std::ranges::any_of(model.outputs, &graph::Boundary::open);
  std::vector<DumpedFile> files;
  const auto find_files = [&]() -> Status {
    MILLRACE_ASSIGN_OR_RETURN(
        files, arguments.outputs.empty()
                   ? find_dumped_files(model, arguments.directory, view_named(arguments.view))
                   : named_files(model, arguments.outputs, view_named(arguments.view)));
    return {};
  };
  if (!open_outputs) MILLRACE_RETURN_IF_ERROR(find_files());
  MILLRACE_ASSIGN_OR_RETURN(const auto input_files,
                            resolve_inputs(model, input_arguments(model, arguments)));
  std::optional<View> input_view = view_named(arguments.input_view);
  if (!input_view) {
    MILLRACE_ASSIGN_OR_RETURN(input_view, find_view(model, input_files));
  }
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes shapes, parse_shapes(model, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs inputs,
                            load_inputs(model, *input_view, input_files, shapes, picture));
  note_unstated_preprocessing(model, inputs, arguments.picture);
  MILLRACE_ASSIGN_OR_RETURN(const auto jobs, compute(loaded, inputs, *input_view));
  if (open_outputs) {
    MILLRACE_ASSIGN_OR_RETURN(model, settled_outputs(std::move(model), jobs, inputs.frames));
    MILLRACE_RETURN_IF_ERROR(find_files());
  }
  const Tolerances tolerances = tolerances_of(arguments);
  int exit_code = 0;
  std::vector<ComparedFile> compared;
  for (const DumpedFile& file : files) {
    MILLRACE_ASSIGN_OR_RETURN(ComparedFile one,
                              compare_file(model, file, jobs, inputs.frames, tolerances));
    if (!one.comparison.within) exit_code = kDifferent;
    compared.push_back(std::move(one));
  }
  if (!arguments.junit.empty()) {
    const std::string text = golden_junit(arguments.model, compared, tolerances);
    MILLRACE_RETURN_IF_ERROR(io::write_file(arguments.junit, std::as_bytes(std::span(text))));
  }
  const auto print = arguments.json ? print_golden_json : print_golden_text;
  print(compared, tolerances);
  return exit_code;
}

}  // namespace millrace::cli
