// All kinds of files but raw ones are read as the CPU view first and then converted.
#include "cli/inputs/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "cli/arguments/suggestion.h"
#include "cli/data/data_set.h"
#include "cli/data/frame_file.h"
#include "cli/inputs/boundary_tensor.h"
#include "io/content.h"
#include "io/file.h"
#include "tensor/conversion/conversion.h"

namespace millrace::cli {
namespace {

using Bytes = std::vector<std::byte>;

// Checks that the bytes are whole frames, and at least one.
Status check_frames(size_t bytes, const tensor::TensorDesc& desc) {
  const size_t frame = desc.bytes();
  if (frame == 0 ? bytes == 0 : bytes > 0 && bytes % frame == 0) return {};
  return invalid_argument(fmt::format("{} bytes, but a frame of input '{}' has {} ({} {} [{}])",
                                      bytes, desc.name, desc.bytes(), to_string(desc.type),
                                      to_string(desc.layout), fmt::join(desc.shape, ",")));
}

// Converts frames of the CPU view to `view`.
Result<Bytes> to_view(const graph::Boundary& boundary, device::View view, Bytes cpu) {
  if (view == device::View::kCpu || !boundary.hw || cpu.empty()) return cpu;
  MILLRACE_ASSIGN_OR_RETURN(const tensor::Conversion conversion,
                            tensor::Conversion::plan(boundary.cpu, *boundary.hw, boundary.quant));
  const size_t frames = cpu.size() / boundary.cpu.bytes();
  Bytes hw(frames * boundary.hw->bytes());
  for (size_t frame = 0; frame < frames; ++frame)
    conversion.to_hw(cpu.data() + frame * boundary.cpu.bytes(),
                     hw.data() + frame * boundary.hw->bytes());
  return hw;
}

// Converts the array's elements to the type of the CPU view.
Result<Bytes> converted_elements(const io::Array& array, const tensor::TensorDesc& cpu) {
  if (array.type == cpu.type) return array.bytes;
  const size_t elements = array.bytes.size() / tensor::size_of(array.type);
  if (elements == 0) return Bytes();
  const tensor::TensorDesc from =
      tensor::make_cpu_desc("array", array.type, {static_cast<uint32_t>(elements)});
  MILLRACE_ASSIGN_OR_RETURN(const tensor::TensorDesc to, tensor::make_hw_desc(from, cpu.type));
  MILLRACE_ASSIGN_OR_RETURN(const tensor::Conversion conversion,
                            tensor::Conversion::plan(from, to, {}));
  Bytes bytes(elements * tensor::size_of(cpu.type));
  conversion.to_hw(array.bytes.data(), bytes.data());
  return bytes;
}

// Whether the array is one frame, or a stack of frames: along an additional leading dimension, or
// along the frame's own if that is 1.
bool shape_fits(const std::vector<uint32_t>& array, const std::vector<uint32_t>& frame) {
  if (array == frame) return true;
  const bool stacked =
      array.size() == frame.size() + 1 && std::equal(frame.begin(), frame.end(), array.begin() + 1);
  const bool batched = array.size() == frame.size() && !frame.empty() && frame[0] == 1 &&
                       std::equal(frame.begin() + 1, frame.end(), array.begin() + 1);
  return stacked || batched;
}

bool has_suffix(const std::string& path, std::initializer_list<const char*> suffixes) {
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](const char* suffix) { return lower.ends_with(suffix); });
}

bool named_as_unsupported(const std::string& path) {
  return has_suffix(
      path, {".gif", ".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".svg", ".pdf", ".npz"});
}

Status not_read(const std::string& path, std::string_view what) {
  return unsupported(fmt::format(
      "{} is {}, which is not read: pictures are {}, arrays .npy files, and raw numbers .bin files",
      path, what, io::picture_formats()));
}

std::vector<std::string> input_names(const graph::CompiledModel& model) {
  std::vector<std::string> names;
  for (const graph::Boundary& input : model.inputs) names.push_back(input.cpu.name);
  return names;
}

}  // namespace

Status no_such_input(const graph::CompiledModel& model, const std::string& name) {
  const std::vector<std::string> names = input_names(model);
  return invalid_argument(fmt::format("the model has no input '{}'; its inputs are {}{}", name,
                                      fmt::join(names, ", "), did_you_mean(name, names)));
}

Result<InputFile> resolve_input(const graph::CompiledModel& model, const char* option,
                                const std::string& argument) {
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const std::string prefix = model.inputs[i].cpu.name + "=";
    if (argument.starts_with(prefix)) return InputFile{i, argument.substr(prefix.size())};
  }
  const size_t separator = argument.find('=');
  if (model.inputs.size() == 1 && separator == std::string::npos) return InputFile{0, argument};
  const std::string context = fmt::format("{} {}", option, argument);
  if (separator != std::string::npos)
    return no_such_input(model, argument.substr(0, separator)).with_context(context);
  return invalid_argument(fmt::format("write it as NAME=FILE, since the model's inputs are {}",
                                      fmt::join(input_names(model), ", ")))
      .with_context(context);
}

Result<std::vector<InputFile>> resolve_inputs(const graph::CompiledModel& model,
                                              const std::vector<std::string>& arguments) {
  std::vector<InputFile> files;
  std::vector<bool> named(model.inputs.size());
  for (const std::string& argument : arguments) {
    MILLRACE_ASSIGN_OR_RETURN(const InputFile source, resolve_input(model, "--input", argument));
    named[source.input] = true;
    std::error_code error;
    if (!std::filesystem::is_directory(source.path, error)) {
      files.push_back(source);
      continue;
    }
    MILLRACE_ASSIGN_OR_RETURN(const auto paths, usable_files(source.path));
    for (const std::string& path : paths) files.push_back({source.input, path});
  }
  for (size_t i = 0; i < named.size(); ++i)
    if (!named[i])
      return invalid_argument(fmt::format("no --input for '{}'; the model's inputs are {}",
                                          model.inputs[i].cpu.name,
                                          fmt::join(input_names(model), ", ")));
  return files;
}

Result<device::View> find_view(const graph::CompiledModel& model,
                               const std::vector<InputFile>& files) {
  bool cpu_fits = true, hw_fits = true, differ = false;
  for (const InputFile& file : files) {
    MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(file.path));
    if (kind != FileKind::kRaw || model.inputs[file.input].open) continue;
    const tensor::TensorDesc& cpu = desc_in(model.inputs[file.input], device::View::kCpu);
    const tensor::TensorDesc& hw = desc_in(model.inputs[file.input], device::View::kHw);
    MILLRACE_ASSIGN_OR_RETURN(const Bytes bytes, io::read_file(file.path));
    cpu_fits = cpu_fits && check_frames(bytes.size(), cpu).ok();
    hw_fits = hw_fits && check_frames(bytes.size(), hw).ok();
    differ = differ || cpu != hw;
    if (!cpu_fits && !hw_fits)
      return invalid_argument(
          fmt::format("{}: {} bytes, but a frame of input '{}' has {} in the CPU view and {} in "
                      "the HW view",
                      file.path, bytes.size(), cpu.name, cpu.bytes(), hw.bytes()));
  }
  if (cpu_fits && hw_fits && differ)
    return invalid_argument(fmt::format(
        "{} holds whole frames of both views: choose one with --input-view", files.front().path));
  return cpu_fits ? device::View::kCpu : device::View::kHw;
}

Result<std::optional<std::vector<uint32_t>>> array_shape(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(path));
  if (kind != FileKind::kArray) return std::optional<std::vector<uint32_t>>();
  MILLRACE_ASSIGN_OR_RETURN(io::Array array, io::read_npy(path));
  return std::optional(std::move(array.shape));
}

Result<FileKind> kind_of(const std::string& path) {
  if (has_suffix(path, {".bin", ".raw"})) return FileKind::kRaw;
  const io::Recognised found = io::recognise_file(path);
  if (found.content == io::Content::kPicture) return FileKind::kPicture;
  if (found.content == io::Content::kArray) return FileKind::kArray;
  if (found.content == io::Content::kUnsupported) return not_read(path, found.name);
  if (named_as_unsupported(path))
    return not_read(path, fmt::format("a {} file", path.substr(path.rfind('.'))));
  if (has_suffix(path, {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".pnm", ".webp"}))
    return FileKind::kPicture;
  return has_suffix(path, {".npy"}) ? FileKind::kArray : FileKind::kRaw;
}

bool takes_pictures(const tensor::TensorDesc& cpu) {
  return cpu.layout == tensor::Layout::kNchw && cpu.shape[0] == 1;
}

Result<io::PictureOptions> sized_for(const tensor::TensorDesc& cpu, const std::string& path,
                                     io::PictureOptions options) {
  if (!takes_pictures(cpu))
    return invalid_argument(fmt::format("{}: input '{}' [{}] takes no picture", path, cpu.name,
                                        fmt::join(cpu.shape, ",")));
  options.channels = cpu.shape[1];
  options.height = cpu.shape[2];
  options.width = cpu.shape[3];
  return options;
}

Result<std::vector<std::byte>> typed_planes(const std::vector<float>& planes,
                                            const tensor::TensorDesc& cpu) {
  const auto bytes = std::as_bytes(std::span(planes));
  return converted_elements(
      io::Array{tensor::DataType::kFloat32, cpu.shape, Bytes(bytes.begin(), bytes.end())}, cpu);
}

bool holds_frames(const io::Array& array, const tensor::TensorDesc& cpu) {
  return shape_fits(array.shape, cpu.shape);
}

Result<std::vector<std::byte>> frames_of(const io::Array& array, const tensor::TensorDesc& cpu,
                                         const std::string& path) {
  if (!holds_frames(array, cpu))
    return invalid_argument(fmt::format("{}: shape [{}] does not fit input '{}' [{}]", path,
                                        fmt::join(array.shape, ","), cpu.name,
                                        fmt::join(cpu.shape, ",")));
  MILLRACE_ASSIGN_OR_RETURN(Bytes bytes, converted_elements(array, cpu));
  MILLRACE_RETURN_IF_ERROR(check_frames(bytes.size(), cpu).with_context(path));
  return bytes;
}

Result<std::vector<std::byte>> picture_frame(const tensor::TensorDesc& cpu, const std::string& path,
                                             const io::PictureOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions sized, sized_for(cpu, path, options));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> planes, io::load_picture(path, sized));
  return typed_planes(planes, cpu);
}

Result<std::vector<std::byte>> raw_frames(const tensor::TensorDesc& desc, const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(Bytes bytes, io::read_file(path));
  MILLRACE_RETURN_IF_ERROR(check_frames(bytes.size(), desc).with_context(path));
  return bytes;
}

Result<LoadedFile> load_input(const graph::Boundary& boundary, device::View view,
                              const std::string& path, const io::PictureOptions& picture) {
  LoadedFile loaded;
  MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(path));
  if (kind == FileKind::kRaw) {
    MILLRACE_ASSIGN_OR_RETURN(loaded.bytes, raw_frames(desc_in(boundary, view), path));
    return loaded;
  }
  MILLRACE_ASSIGN_OR_RETURN(const FrameFile file, FrameFile::open(boundary, path, picture));
  Bytes cpu;
  for (size_t i = 0; i < file.frames(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const Bytes frame, file.frame(i));
    cpu.insert(cpu.end(), frame.begin(), frame.end());
  }
  if (cpu.empty() && boundary.cpu.bytes() > 0) return invalid_argument(path + " holds no frames");
  MILLRACE_ASSIGN_OR_RETURN(loaded.bytes, to_view(boundary, view, std::move(cpu)));
  loaded.pictures = file.holds_pictures();
  return loaded;
}

}  // namespace millrace::cli
