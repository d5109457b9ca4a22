#include "cli/inputs/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "cli/inputs/boundary_tensor.h"
#include "cli/progress.h"
#include "tensor/conversion/conversion.h"
#include "tensor/tensor_shape.h"

namespace millrace::cli {

namespace {

// Returns an open input with the shape in `shapes`, or else that of its file, which may be that of
// one frame or of a stack of frames.
Result<graph::Boundary> settled_by(const graph::Boundary& boundary, const std::string& path,
                                   const GivenShapes& shapes) {
  if (const auto given = shapes.find(boundary.cpu.name); given != shapes.end())
    return settled(boundary, given->second);
  MILLRACE_ASSIGN_OR_RETURN(const std::optional<std::vector<uint32_t>> array, array_shape(path));
  if (!array) return shapes_missing({boundary});
  if (can_have(boundary, *array)) return settled(boundary, *array);
  // A stack of frames has one more dimension, or a first dimension other than 1.
  if (std::vector<uint32_t> frame(array->begin() + (array->empty() ? 0 : 1), array->end());
      can_have(boundary, frame))
    return settled(boundary, std::move(frame));
  if (std::vector<uint32_t> frame = *array; !frame.empty()) {
    frame[0] = 1;
    if (can_have(boundary, frame)) return settled(boundary, std::move(frame));
  }
  return invalid_argument(fmt::format("{}: shape {} does not fit input '{}' {}", path,
                                      tensor::to_string(*array), boundary.cpu.name,
                                      tensor::to_string(boundary.cpu.shape)));
}

// Checks that each open input has a shape, or a file that has one.
Status check_shapes_known(const graph::CompiledModel& model, const std::vector<InputFile>& files,
                          const GivenShapes& shapes) {
  std::vector<graph::Boundary> missing;
  for (const InputFile& file : files) {
    const graph::Boundary& input = model.inputs[file.input];
    if (!input.open || shapes.contains(input.cpu.name)) continue;
    const Result<FileKind> kind = kind_of(file.path);
    if (kind.ok() && *kind != FileKind::kArray) missing.push_back(input);
  }
  return missing.empty() ? Status() : shapes_missing(missing);
}

void add_names(const std::string& path, uint32_t frames, std::vector<std::string>& names) {
  for (uint32_t i = 0; i < frames; ++i)
    names.push_back(frames == 1 ? path : fmt::format("{}[{}]", path, i));
}

}  // namespace

Result<LoadedInputs> load_inputs(const graph::CompiledModel& model, device::View view,
                                 const std::vector<InputFile>& files, const GivenShapes& shapes,
                                 const io::PictureOptions& picture) {
  LoadedInputs loaded;
  loaded.bytes.resize(model.inputs.size());
  loaded.boundaries = model.inputs;
  MILLRACE_RETURN_IF_ERROR(check_shapes_known(model, files, shapes));
  std::vector<uint32_t> frames(model.inputs.size());
  BusyLine progress("reading");
  for (const InputFile& file : files) {
    graph::Boundary& boundary = loaded.boundaries[file.input];
    if (boundary.open) {
      MILLRACE_ASSIGN_OR_RETURN(boundary, settled_by(boundary, file.path, shapes));
    }
    progress.update(file.path);
    MILLRACE_ASSIGN_OR_RETURN(LoadedFile read, load_input(boundary, view, file.path, picture));
    if (read.pictures) loaded.pictures.push_back(file.input);
    const size_t frame_bytes = desc_in(boundary, view).bytes();
    const auto of_file =
        static_cast<uint32_t>(frame_bytes == 0 ? 1 : read.bytes.size() / frame_bytes);
    if (file.input == 0) add_names(file.path, of_file, loaded.names);
    frames[file.input] += of_file;
    std::vector<std::byte>& bytes = loaded.bytes[file.input];
    bytes.insert(bytes.end(), read.bytes.begin(), read.bytes.end());
  }
  for (size_t i = 1; i < frames.size(); ++i)
    if (frames[i] != frames[0])
      return invalid_argument(fmt::format("{} frames for input '{}', {} for input '{}'", frames[i],
                                          model.inputs[i].cpu.name, frames[0],
                                          model.inputs[0].cpu.name));
  loaded.frames = frames.empty() ? 0 : frames[0];
  return loaded;
}

Result<std::vector<JobBuffers>> run_frames(runtime::Session& session, const LoadedInputs& loaded,
                                           device::View input_view, device::View output_view) {
  const graph::CompiledModel& model = session.model();
  std::vector<JobBuffers> jobs;
  for (uint32_t first = 0; first < loaded.frames; first += model.batch_size) {
    const uint32_t frames = std::min(model.batch_size, loaded.frames - first);
    MILLRACE_ASSIGN_OR_RETURN(
        JobBuffers buffers,
        JobBuffers::allocate(model, loaded.boundaries, frames, input_view, output_view));
    for (uint32_t frame = 0; frame < frames; ++frame) {
      for (size_t i = 0; i < model.inputs.size(); ++i) {
        const size_t bytes = desc_in(loaded.boundaries[i], input_view).bytes();
        if (bytes == 0) continue;
        std::memcpy(buffers.input(frame, i), loaded.bytes[i].data() + (first + frame) * bytes,
                    bytes);
      }
    }
    MILLRACE_RETURN_IF_ERROR(buffers.execute(session));
    jobs.push_back(std::move(buffers));
  }
  return jobs;
}

Result<std::vector<float>> values_of(const graph::Boundary& boundary, device::View view,
                                     const std::byte* data) {
  if (boundary.cpu.elements() == 0) return std::vector<float>();
  std::vector<std::byte> cpu(boundary.cpu.bytes());
  if (view == device::View::kHw && boundary.hw) {
    MILLRACE_ASSIGN_OR_RETURN(const auto conversion,
                              tensor::Conversion::plan(boundary.cpu, *boundary.hw, boundary.quant));
    conversion.to_cpu(data, cpu.data());
  } else {
    std::memcpy(cpu.data(), data, cpu.size());
  }
  const tensor::TensorDesc flat = tensor::make_cpu_desc(
      boundary.cpu.name, boundary.cpu.type, {static_cast<uint32_t>(boundary.cpu.elements())});
  MILLRACE_ASSIGN_OR_RETURN(const auto as_float,
                            tensor::make_hw_desc(flat, tensor::DataType::kFloat32));
  MILLRACE_ASSIGN_OR_RETURN(const auto widen, tensor::Conversion::plan(flat, as_float, {}));
  std::vector<float> values(boundary.cpu.elements());
  widen.to_hw(cpu.data(), values.data());
  return values;
}

std::vector<float> real_values(const graph::CompiledModel& model, const graph::Boundary& boundary,
                               std::vector<float> elements) {
  if (boundary.value >= model.graph.values.size()) return elements;
  const std::optional<graph::Quantisation>& quantisation =
      model.graph.values[boundary.value].quantisation;
  if (!quantisation) return elements;
  const std::vector<uint32_t>& shape = boundary.cpu.shape;
  size_t inner = 1;  // elements in a row that have the same scale
  if (quantisation->is_per_axis())
    for (size_t dim = quantisation->axis + size_t{1}; dim < shape.size(); ++dim)
      inner *= shape[dim];
  for (size_t i = 0; i < elements.size(); ++i) {
    const size_t at = i / inner % quantisation->scales.size();
    elements[i] = static_cast<float>((double{elements[i]} - quantisation->zero_points[at]) *
                                     quantisation->scales[at]);
  }
  return elements;
}

}  // namespace millrace::cli
