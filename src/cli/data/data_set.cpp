// Each input has a list of files with their first sample and number of frames; a sample is found in
// it by binary search.
#include "cli/data/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/inputs/boundary_tensor.h"

namespace millrace::cli {
namespace {

namespace fs = std::filesystem;

struct FoundFile {
  std::string path;
  std::string folder;  // the source in which it was found; empty: the file is a source itself
};

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

// Returns the usable files of a folder.
Result<std::vector<FoundFile>> files_in_folder(const std::string& folder) {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<std::string> paths, usable_files(folder));
  std::vector<FoundFile> files;
  for (std::string& path : paths) files.push_back({std::move(path), folder});
  return files;
}

Result<std::vector<FoundFile>> files_of(const std::string& source) {
  std::error_code error;
  if (fs::is_directory(source, error)) return files_in_folder(source);
  if (!fs::exists(source, error))
    return Status(StatusCode::kNotFound, source + ": no such file or folder");
  return std::vector<FoundFile>{{source, ""}};
}

using Sources = std::vector<std::vector<std::string>>;  // files and folders, by input

// Returns the path of the folder or file in `folder` that is named like the input.
Result<std::string> source_inside(const std::string& folder, const graph::Boundary& input) {
  const std::string name = file_name_part(input.cpu.name);
  std::error_code error;
  for (const char* end : {"", ".npy", ".bin"}) {
    const fs::path path = fs::path(folder) / (name + end);
    if (*end == 0 ? fs::is_directory(path, error) : fs::is_regular_file(path, error))
      return path.string();
  }
  return Status(StatusCode::kNotFound,
                fmt::format("{} has no folder {}, {}.npy or {}.bin for input '{}'", folder, name,
                            name, name, input.cpu.name));
}

Result<Sources> sources_inside(const std::string& folder,
                               const std::vector<graph::Boundary>& inputs) {
  Sources sources;
  for (const graph::Boundary& input : inputs) {
    MILLRACE_ASSIGN_OR_RETURN(std::string source, source_inside(folder, input));
    sources.push_back({std::move(source)});
  }
  return sources;
}

// Assigns NAME=SOURCE arguments to the inputs that they name.
Result<Sources> named_sources(const std::vector<std::string>& arguments,
                              const std::vector<graph::Boundary>& inputs) {
  Sources sources(inputs.size());
  for (const std::string& argument : arguments) {
    const auto named = std::ranges::find_if(inputs, [&](const graph::Boundary& input) {
      return argument.starts_with(input.cpu.name + "=");
    });
    if (named == inputs.end())
      return invalid_argument(
          fmt::format("{}: the model has {} inputs; write NAME=FILE or NAME=FOLDER, as {}=...",
                      argument, inputs.size(), inputs.front().cpu.name));
    sources[static_cast<size_t>(named - inputs.begin())].push_back(
        argument.substr(named->cpu.name.size() + 1));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (sources[i].empty())
      return invalid_argument(fmt::format("no data for input '{}'", inputs[i].cpu.name));
  return sources;
}

Result<Sources> sources_by_input(const std::vector<std::string>& arguments,
                                 const std::vector<graph::Boundary>& inputs) {
  if (inputs.empty()) return invalid_argument("the model has no inputs");
  if (arguments.empty()) return invalid_argument("no files or folders with data are given");
  std::error_code error;
  if (inputs.size() > 1 && arguments.size() == 1 && fs::is_directory(arguments.front(), error))
    return sources_inside(arguments.front(), inputs);
  const bool named = arguments.front().starts_with(inputs.front().cpu.name + "=");
  if (inputs.size() > 1 || named) return named_sources(arguments, inputs);
  return Sources{arguments};
}

}  // namespace

// The order of paths is the same on every machine.
Result<std::vector<std::string>> usable_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code of_entry;
    const bool hidden = is_hidden(entry->path());
    if (hidden && entry->is_directory(of_entry)) entry.disable_recursion_pending();
    if (hidden || !entry->is_regular_file(of_entry)) continue;
    std::string path = entry->path().string();
    if (FrameFile::is_taken(path)) files.push_back(std::move(path));
  }
  if (error) return io_error("read the folder " + folder, error.value());
  if (files.empty())
    return invalid_argument(folder + " holds no pictures and no .npy or .bin files");
  std::ranges::sort(files);
  return files;
}

Result<DataSet> DataSet::open(std::vector<graph::Boundary> inputs,
                              const std::vector<std::string>& sources,
                              const io::PictureOptions& picture) {
  MILLRACE_ASSIGN_OR_RETURN(const Sources by_input, sources_by_input(sources, inputs));
  DataSet data;
  data.picture_ = picture;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Input input;
    size_t frames = 0;
    for (const std::string& source : by_input[i]) {
      MILLRACE_ASSIGN_OR_RETURN(const auto files, files_of(source));
      for (const FoundFile& file : files) {
        MILLRACE_ASSIGN_OR_RETURN(const FrameFile opened,
                                  FrameFile::open(inputs[i], file.path, picture));
        input.entries.push_back({file.path, file.folder, frames, opened.frames()});
        frames += opened.frames();
        if (opened.holds_pictures() && !data.input_of_pictures_) data.input_of_pictures_ = i;
      }
    }
    if (i > 0 && frames != data.size_)
      return invalid_argument(fmt::format("{} frames for input '{}', {} for input '{}'", frames,
                                          inputs[i].cpu.name, data.size_,
                                          data.inputs_.front().boundary.cpu.name));
    data.size_ = frames;
    input.boundary = std::move(inputs[i]);
    data.inputs_.push_back(std::move(input));
  }
  if (data.size_ == 0) return invalid_argument(sources.front() + " holds no frames");
  return data;
}

const DataSet::Entry& DataSet::entry_of(const Input& input, size_t index) {
  const auto behind = std::ranges::upper_bound(input.entries, index, {}, &Entry::first);
  return *(behind - 1);
}

std::string DataSet::name(size_t index) const {
  const Entry& entry = entry_of(inputs_.front(), index);
  return entry.frames == 1 ? entry.path : fmt::format("{}[{}]", entry.path, index - entry.first);
}

const std::string& DataSet::path(size_t index) const {
  return entry_of(inputs_.front(), index).path;
}

const std::string& DataSet::folder(size_t index) const {
  return entry_of(inputs_.front(), index).folder;
}

std::vector<size_t> DataSet::spread(size_t most) const {
  std::vector<size_t> chosen(std::min(size_, most));
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i * size_ / chosen.size();
  return chosen;
}

Result<const DataSet::Entry*> DataSet::open_entry_of(Input& input, size_t index) {
  const Entry& entry = entry_of(input, index);
  const auto number = static_cast<size_t>(&entry - input.entries.data());
  if (!input.open || input.open_entry != number) {
    MILLRACE_ASSIGN_OR_RETURN(input.open, FrameFile::open(input.boundary, entry.path, picture_));
    input.open_entry = number;
  }
  if (input.open->frames() != entry.frames)
    return corrupt_data(entry.path + " has changed since it was opened");
  return &entry;
}

Result<Sample> DataSet::load(size_t index) {
  Sample sample{name(index), {}};
  for (Input& input : inputs_) {
    MILLRACE_ASSIGN_OR_RETURN(const Entry* const entry, open_entry_of(input, index));
    MILLRACE_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                              input.open->frame(index - entry->first));
    sample.inputs.push_back(std::move(bytes));
  }
  return sample;
}

Result<std::optional<std::vector<std::byte>>> DataSet::thumbnail(size_t index, uint32_t side) {
  Input& input = inputs_.front();
  MILLRACE_ASSIGN_OR_RETURN(const Entry* const entry, open_entry_of(input, index));
  return input.open->thumbnail(index - entry->first, side);
}

}  // namespace millrace::cli
