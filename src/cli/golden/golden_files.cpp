// Files are grouped by the part of their names that those of one run share. Problems are collected
// and reported all at once.
#include "cli/golden/golden_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <regex>
#include <utility>

#include "cli/arguments/suggestion.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/input_files.h"
#include "io/npy.h"

namespace millrace::cli {
namespace {

namespace fs = std::filesystem;
using device::View;
using tensor::TensorDesc;

// The files that one run of a program wrote: paths by index of the output.
using Group = std::map<size_t, fs::path>;

constexpr const char* kArraySuffix = ".npy";

// Returns the name that the programs use for a type; ml_vart has short names for 16-bit types.
std::string type_name(tensor::DataType type, bool short_names) {
  if (type == tensor::DataType::kBf16) return short_names ? "bf16" : "bfloat16";
  if (type == tensor::DataType::kFp16) return short_names ? "fp16" : "float16";
  if (type == tensor::DataType::kBoolean) return "bool";
  std::string name(to_string(type));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string ml_vart_name(const TensorDesc& desc, size_t output) {
  return fmt::format("infer_out{}-{}_{}_{}.bin", output, type_name(desc.type, true),
                     fmt::join(desc.shape, "x"), file_name_part(desc.name));
}

std::string multi_model_name(const TensorDesc& desc, size_t) {
  return fmt::format("{}_{}_{}.bin", file_name_part(desc.name), fmt::join(desc.shape, "x"),
                     type_name(desc.type, false));
}

using NameOf = std::string (*)(const TensorDesc&, size_t output);

class Finder {
 public:
  Finder(const graph::CompiledModel& model, std::optional<View> view)
      : model_(model), view_(view) {}

  // Takes the files of ml_vart and vart_infer_async, which are in the directory itself.
  void search(const std::vector<fs::path>& files) {
    static const std::regex kMlVart("((?:iter[0-9]+_)?)(infer_out([0-9]+)-.*\\.bin)");
    static const std::regex kInferAsync("(output_(?:p1_)?f[0-9]+_)([0-9]+)\\.bin");
    std::map<std::string, Group> ml_vart, infer_async;  // by the part of the name they share
    for (const fs::path& path : files) {
      const std::string name = path.filename().string();
      std::smatch match;
      if (std::regex_match(name, match, kMlVart))
        ml_vart[match[1]][number_in(match[3])] = path;
      else if (std::regex_match(name, match, kInferAsync))
        infer_async[match[1]][number_in(match[2])] = path;
    }
    for (const auto& [prefix, group] : ml_vart) take_named(group, prefix, ml_vart_name);
    for (const auto& [prefix, group] : infer_async) take_sized(group, prefix);
  }

  // Takes the files of vart_multi_tenancy and vart_multimodel_seq in a directory ofm_model_<k>.
  void search_model_directory(const std::vector<fs::path>& files) {
    Group group;
    for (const fs::path& path : files)
      for (size_t output = 0; output < model_.outputs.size(); ++output)
        if (named_view(path.filename().string(), output, "", multi_model_name))
          group[output] = path;
    if (!group.empty()) take_named(group, "", multi_model_name);
  }

  // Takes the files of `millrace run`, which are in the directory itself.
  void search_own(const std::vector<fs::path>& files) {
    const std::vector<std::string> names = output_file_names(model_);
    Group raw, all;
    for (const fs::path& path : files) {
      const bool array = path.extension() == kArraySuffix;
      fs::path as_raw = path.filename();
      if (array) as_raw.replace_extension(".bin");
      const auto name = std::ranges::find(names, as_raw.string());
      if (name == names.end()) continue;
      const auto output = static_cast<size_t>(name - names.begin());
      all[output] = path;
      if (array)
        take_array(path, output);
      else
        raw[output] = path;
    }
    take_own(raw);
    if (all.empty()) return;
    const fs::path directory = all.begin()->second.parent_path();
    report_missing(all, [&](size_t output) { return (directory / names[output]).string(); });
  }

  // Takes a file of any name.
  void take_given(size_t output, const fs::path& path) {
    if (path.extension() == kArraySuffix)
      take_array(path, output);
    else
      take_own({{output, path}});
  }

  Result<std::vector<DumpedFile>> finish(const std::string& directory) {
    if (!problems_.empty()) return invalid_argument(fmt::format("{}", fmt::join(problems_, "; ")));
    if (found_.empty())
      return Status(
          StatusCode::kNotFound,
          fmt::format("{} holds no output files of this model, such as {}, "
                      "output_p1_f0_0.bin, ofm_model_0/{} or {}",
                      directory, ml_vart_name(desc(0, View::kHw), 0),
                      multi_model_name(desc(0, View::kHw), 0), output_file_names(model_).front()));
    return std::move(found_);
  }

 private:
  static size_t number_in(const std::string& digits) {
    size_t number = SIZE_MAX;  // stays if the number is too large; no output has this index
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  }

  const TensorDesc& desc(size_t output, View view) const {
    return desc_in(model_.outputs[output], view);
  }

  // Returns the view whose type and shape the name has; nothing if it has those of neither.
  std::optional<View> named_view(const std::string& name, size_t output, const std::string& prefix,
                                 NameOf name_of) const {
    const View first = view_.value_or(model_.outputs[output].hw ? View::kHw : View::kCpu);
    const View second = first == View::kHw ? View::kCpu : View::kHw;
    for (const View view : {first, second})
      if (name == prefix + name_of(desc(output, view), output)) return view;
    return std::nullopt;
  }

  // Takes a group whose names have type and shape.
  void take_named(const Group& group, const std::string& prefix, NameOf name_of) {
    for (const auto& [output, path] : group) {
      if (output >= model_.outputs.size()) {
        refuse_output(path, output);
      } else if (const auto view = named_view(path.filename().string(), output, prefix, name_of)) {
        take(path, output, *view);
      } else {
        problems_.push_back(fmt::format("{} should be {} or {}", path.string(),
                                        name_of(desc(output, View::kHw), output),
                                        name_of(desc(output, View::kCpu), output)));
      }
    }
    const fs::path directory = group.begin()->second.parent_path();
    report_missing(group, [&](size_t output) {
      return (directory / (prefix + name_of(desc(output, View::kHw), output))).string();
    });
  }

  // Takes a group whose names have neither, by the sizes of its files.
  void take_sized(const Group& group, const std::string& prefix) {
    std::vector<View> fitting;
    for (const View view : {View::kHw, View::kCpu})
      if (fits(group, view)) fitting.push_back(view);
    const bool differ = std::ranges::any_of(group, [&](const auto& file) {
      return file.first < model_.outputs.size() &&
             desc(file.first, View::kHw) != desc(file.first, View::kCpu);
    });
    if (!view_ && fitting.size() == 2 && differ)
      problems_.push_back(fmt::format("{} fits both views: choose --view cpu or --view hw",
                                      group.begin()->second.string()));
    const View view = view_ ? *view_ : fitting.empty() ? View::kHw : fitting.front();
    for (const auto& [output, path] : group) {
      if (output >= model_.outputs.size())
        refuse_output(path, output);
      else
        take(path, output, view);
    }
    const fs::path directory = group.begin()->second.parent_path();
    report_missing(group, [&](size_t output) {
      return (directory / fmt::format("{}{}.bin", prefix, output)).string();
    });
  }

  // Whether all files of a group hold whole frames.
  bool has_frames(const Group& group, View view) const {
    return std::ranges::all_of(group, [&](const auto& file) {
      const size_t frame = desc(file.first, view).bytes();
      return frame != 0 && size_of(file.second) % frame == 0;
    });
  }

  // Whether all files of a group hold one frame, or all of them a whole batch.
  bool fits(const Group& group, View view) const {
    const auto hold = [&](uint32_t frames) {
      return std::ranges::all_of(group, [&](const auto& file) {
        return file.first < model_.outputs.size() &&
               size_of(file.second) == frames * desc(file.first, view).bytes();
      });
    };
    return hold(1) || hold(model_.batch_size);
  }

  // Takes raw files whose names have neither type nor shape, and any number of frames.
  void take_own(const Group& group) {
    const View view = view_.value_or(has_frames(group, View::kCpu) ? View::kCpu : View::kHw);
    for (const auto& [output, path] : group) take(path, output, view);
  }

  void take_array(const fs::path& path, size_t output) {
    const TensorDesc& wanted = desc(output, View::kCpu);
    const auto array = io::read_npy(path.string());
    if (!array.ok()) {
      problems_.push_back(array.status().message());
      return;
    }
    const auto frames = frames_of(*array, wanted, path.string());
    if (!frames.ok() || frames->empty()) {
      problems_.push_back(frames.ok() ? path.string() + " holds no frames"
                                      : frames.status().message());
      return;
    }
    found_.push_back({.path = path.string(),
                      .output = output,
                      .view = View::kCpu,
                      .frames = static_cast<uint32_t>(frames->size() / wanted.bytes()),
                      .array = true});
  }

  static uintmax_t size_of(const fs::path& path) {
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    return error ? 0 : size;
  }

  void take(const fs::path& path, size_t output, View view) {
    const uintmax_t size = size_of(path);
    const TensorDesc& wanted = desc(output, view);
    if (size == 0 || wanted.bytes() == 0 || size % wanted.bytes() != 0)
      problems_.push_back(fmt::format("{} has {} bytes, a frame of output '{}' has {} ({} {} [{}])",
                                      path.string(), size, wanted.name, wanted.bytes(),
                                      to_string(wanted.type), to_string(wanted.layout),
                                      fmt::join(wanted.shape, ",")));
    else
      found_.push_back({.path = path.string(),
                        .output = output,
                        .view = view,
                        .frames = static_cast<uint32_t>(size / wanted.bytes())});
  }

  void refuse_output(const fs::path& path, size_t output) {
    problems_.push_back(fmt::format("{} is of output {}, but the model has {} outputs",
                                    path.string(), output, model_.outputs.size()));
  }

  template <class PathOf>
  void report_missing(const Group& group, PathOf path_of) {
    for (size_t output = 0; output < model_.outputs.size(); ++output)
      if (!group.contains(output))
        problems_.push_back(fmt::format("{} is missing ({} bytes per frame)", path_of(output),
                                        desc(output, View::kHw).bytes()));
  }

  const graph::CompiledModel& model_;
  const std::optional<View> view_;
  std::vector<DumpedFile> found_;
  std::vector<std::string> problems_;
};

// Returns the output and the file that NAME=FILE, or FILE alone, means.
Result<std::pair<size_t, std::string>> resolve_output(const graph::CompiledModel& model,
                                                      const std::string& argument) {
  std::vector<std::string> names;
  for (const graph::Boundary& output : model.outputs) {
    const std::string& name = output.cpu.name;
    if (argument.starts_with(name + "="))
      return std::pair(names.size(), argument.substr(name.size() + 1));
    names.push_back(name);
  }
  const size_t separator = argument.find('=');
  if (separator == std::string::npos && names.size() == 1) return std::pair(size_t{0}, argument);
  if (separator == std::string::npos)
    return invalid_argument(
        fmt::format("--output {}: write it as NAME=FILE, since the model's outputs are {}",
                    argument, fmt::join(names, ", ")));
  const std::string name = argument.substr(0, separator);
  return invalid_argument(
      fmt::format("--output {}: the model has no output '{}'; its outputs are {}{}", argument, name,
                  fmt::join(names, ", "), did_you_mean(name, names)));
}

}  // namespace

Result<std::vector<DumpedFile>> find_dumped_files(const graph::CompiledModel& model,
                                                  const std::string& directory,
                                                  std::optional<View> view) {
  static const std::regex kModelDirectory("ofm_model_[0-9]+");
  const auto entries_of = [](const fs::path& path, std::error_code& error) {
    std::vector<fs::path> entries;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
      entries.push_back(it->path());
    std::ranges::sort(entries);
    return entries;
  };
  std::error_code error;
  const std::vector<fs::path> entries = entries_of(directory, error);
  if (error) return io_error("read the directory " + directory, error.value());
  Finder finder(model, view);
  finder.search(entries);
  finder.search_own(entries);
  const fs::path itself = fs::path(directory + "/.").lexically_normal().parent_path();
  if (std::regex_match(itself.filename().string(), kModelDirectory))
    finder.search_model_directory(entries);
  for (const fs::path& entry : entries)
    if (std::regex_match(entry.filename().string(), kModelDirectory))
      finder.search_model_directory(entries_of(entry, error));
  return finder.finish(directory);
}

Result<std::vector<DumpedFile>> named_files(const graph::CompiledModel& model,
                                            const std::vector<std::string>& arguments,
                                            std::optional<View> view) {
  Finder finder(model, view);
  for (const std::string& argument : arguments) {
    MILLRACE_ASSIGN_OR_RETURN(const auto named, resolve_output(model, argument));
    finder.take_given(named.first, named.second);
  }
  return finder.finish("");
}

}  // namespace millrace::cli
