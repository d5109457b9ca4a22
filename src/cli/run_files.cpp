#include "cli/run_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "cli/inputs/boundary_tensor.h"
#include "io/npy.h"

namespace millrace::cli {
namespace {

// Returns the frames of a tensor, one after another, as the file of a NumPy array. Types that NumPy
// does not have are widened to FLOAT32.
Result<std::vector<std::byte>> as_array(const graph::Boundary& boundary, uint32_t frames,
                                        std::vector<std::byte> bytes) {
  io::Array array{boundary.cpu.type, boundary.cpu.shape, std::move(bytes)};
  if (frames > 1) array.shape.insert(array.shape.begin(), frames);
  Result<std::vector<std::byte>> file = io::npy_bytes(array);
  if (file.ok()) return file;
  std::vector<std::byte> wide;
  for (size_t at = 0; at < array.bytes.size(); at += boundary.cpu.bytes()) {
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                              values_of(boundary, device::View::kCpu, array.bytes.data() + at));
    const auto of_frame = std::as_bytes(std::span(values));
    wide.insert(wide.end(), of_frame.begin(), of_frame.end());
  }
  return io::npy_bytes({tensor::DataType::kFloat32, array.shape, std::move(wide)});
}

// Returns the names of the output files in the format that the command line chooses.
std::vector<std::string> names_of_outputs(const graph::CompiledModel& model,
                                          const RunArguments& arguments) {
  std::vector<std::string> names = output_file_names(model);
  if (arguments.output_format == kNpy)
    for (std::string& name : names) name.replace(name.rfind('.'), std::string::npos, ".npy");
  return names;
}

std::string name_of_input(size_t argument) {
  return fmt::format("input{}.named", argument);
}

// Returns the path of FILE or NAME=FILE. The name may not be known yet, so the last '=' separates
// them.
std::string path_in(const std::string& argument) {
  return argument.substr(argument.rfind('=') + 1);
}

// Checks that no two files have the same path.
Status check_different(const std::vector<std::string>& paths) {
  std::set<std::filesystem::path> known;
  for (const std::string& path : paths)
    if (!known.insert(std::filesystem::path(path).lexically_normal()).second)
      return invalid_argument(fmt::format("two files would be written to {}", path));
  return {};
}

std::vector<std::string> paths_of(const NamedFiles& files) {
  std::vector<std::string> paths;
  for (const auto& [name, path] : files) paths.push_back(path);
  return paths;
}

}  // namespace

Status check_saved_inputs(const RunArguments& arguments) {
  for (const std::string& argument : arguments.save_inputs) {
    if (path_in(argument).empty())
      return invalid_argument(fmt::format("--save-input {}: the path is empty", argument));
    if (argument.ends_with(".npy") && arguments.view == "hw")
      return invalid_argument(
          fmt::format("--save-input {}: arrays are for --view cpu, since they have no padding; "
                      "other files get the bytes of the view",
                      argument));
  }
  return check_different(paths_of(named_files(arguments)));
}

NamedFiles named_files(const RunArguments& arguments) {
  NamedFiles files;
  if (!arguments.draw.empty()) files[kDrawnPicture] = arguments.draw;
  for (size_t i = 0; i < arguments.save_inputs.size(); ++i)
    files[name_of_input(i)] = path_in(arguments.save_inputs[i]);
  return files;
}

Result<std::vector<std::string>> files_of_run(const graph::CompiledModel& model,
                                              const RunArguments& arguments) {
  std::vector<std::string> names;
  if (!arguments.output_dir.empty()) names = names_of_outputs(model, arguments);
  std::vector<std::string> paths = paths_of(named_files(arguments));
  for (const std::string& name : names)
    paths.push_back((std::filesystem::path(arguments.output_dir) / name).string());
  MILLRACE_RETURN_IF_ERROR(check_different(paths));
  for (const std::string& argument : arguments.save_inputs) {
    MILLRACE_ASSIGN_OR_RETURN(const InputFile file, resolve_input(model, "--save-input", argument));
    // The paths are settled before the names of the inputs are known.
    if (file.path != path_in(argument))
      return invalid_argument(fmt::format(
          "--save-input {}: the path must not contain '=', which separates it from the name",
          argument));
  }
  for (const auto& [name, path] : named_files(arguments)) names.push_back(name);
  return names;
}

Status write_outputs(const graph::CompiledModel& model, device::View view,
                     const std::vector<JobBuffers>& jobs, uint32_t frames,
                     const RunArguments& arguments, const OutputSink& sink) {
  const std::vector<std::string> names = names_of_outputs(model, arguments);
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

Status write_inputs(const graph::CompiledModel& model, const LoadedInputs& inputs,
                    const RunArguments& arguments, const OutputSink& sink) {
  for (size_t i = 0; i < arguments.save_inputs.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const InputFile file,
                              resolve_input(model, "--save-input", arguments.save_inputs[i]));
    std::vector<std::byte> bytes = inputs.bytes[file.input];
    if (file.path.ends_with(".npy")) {
      MILLRACE_ASSIGN_OR_RETURN(
          bytes, as_array(inputs.boundaries[file.input], inputs.frames, std::move(bytes)));
    }
    MILLRACE_RETURN_IF_ERROR(sink(name_of_input(i), bytes));
  }
  return {};
}

}  // namespace millrace::cli
