// The kind of a label file is found by trying: .npy by its name; else a table of files if a row
// names a file of the data; else a list of classes, with folders as labels.
#include "cli/data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/inputs/input_files.h"
#include "io/file.h"
#include "io/npy.h"
#include "tensor/conversion/conversion.h"

namespace millrace::cli {
namespace {

namespace fs = std::filesystem;

Result<std::vector<int64_t>> read_integers(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const io::Array array, io::read_npy(path));
  if (tensor::is_floating(array.type) || array.type == tensor::DataType::kUint64)
    return invalid_argument(
        fmt::format("{}: labels must be integers, not {}", path, to_string(array.type)));
  const auto count = static_cast<uint32_t>(array.bytes.size() / tensor::size_of(array.type));
  std::vector<int64_t> integers(count);
  if (count == 0) return integers;
  const tensor::TensorDesc from = tensor::make_cpu_desc("labels", array.type, {count});
  MILLRACE_ASSIGN_OR_RETURN(const auto to, tensor::make_hw_desc(from, tensor::DataType::kInt64));
  MILLRACE_ASSIGN_OR_RETURN(const auto widen, tensor::Conversion::plan(from, to, {}));
  widen.to_hw(array.bytes.data(), integers.data());
  return integers;
}

Result<std::vector<size_t>> classes_in_order(const DataSet& data, const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<int64_t> integers, read_integers(path));
  if (integers.size() != data.size())
    return invalid_argument(
        fmt::format("{}: {} labels for {} samples", path, integers.size(), data.size()));
  const auto negative = std::ranges::find_if(integers, [](int64_t label) { return label < 0; });
  if (negative != integers.end())
    return invalid_argument(fmt::format("{}: label {} of sample {} is negative", path, *negative,
                                        negative - integers.begin()));
  return std::vector<size_t>(integers.begin(), integers.end());
}

// The keys by which rows may refer to the files of a data set: path, path inside the source folder,
// and name.
class FileKeys {
 public:
  explicit FileKeys(const DataSet& data) {
    for (size_t i = 0; i < data.size(); ++i) {
      add(data.name(i), data.name(i));
      if (i > 0 && data.path(i) == data.path(i - 1)) continue;
      const fs::path path = data.path(i);
      add(data.path(i), data.path(i));
      add(path.lexically_normal().string(), data.path(i));
      if (!data.folder(i).empty())
        add(path.lexically_relative(data.folder(i)).string(), data.path(i));
      add(path.filename().string(), data.path(i));
    }
  }

  // Returns the path of the file, or the name of the sample; null if none or several match the key.
  const std::string* find(std::string_view key) const {
    if (key.starts_with("./")) key.remove_prefix(2);
    const auto found = files_.find(std::string(key));
    return found == files_.end() || found->second.empty() ? nullptr : &found->second;
  }
  size_t longest() const { return longest_; }

 private:
  void add(const std::string& key, const std::string& file) {
    const auto [entry, added] = files_.emplace(key, file);
    if (!added && entry->second != file) entry->second.clear();
    longest_ = std::max(longest_, key.size());
  }

  std::unordered_map<std::string, std::string> files_;
  size_t longest_ = 0;
};

std::string_view without_quotes(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

struct Row {
  std::string file;
  std::string label;
};

// Splits a row into file and class. Both may contain separators, so the row is split at the last
// separator before which the text is the key of a file.
std::optional<Row> split_row(std::string_view line, const FileKeys& keys) {
  constexpr std::string_view kSeparators = ",;\t ";
  constexpr size_t kDecoration = 8;  // quotes, blanks and ./ around the name
  size_t at = std::min(line.size(), keys.longest() + kDecoration);
  while (at > 0 && (at = line.find_last_of(kSeparators, at - 1)) != line.npos) {
    const std::string* const file = keys.find(without_quotes(line.substr(0, at)));
    const std::string_view label = without_quotes(line.substr(at + 1));
    if (file != nullptr && !label.empty()) return Row{*file, std::string(label)};
  }
  return std::nullopt;
}

using ClassByFile = std::unordered_map<std::string, size_t>;

// Returns the classes of the files that rows name; empty if no row names one.
Result<ClassByFile> read_table(const std::string& path, const DataSet& data,
                               const ClassNames& names) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> lines, io::read_lines(path));
  const FileKeys keys(data);
  ClassByFile classes;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::optional<Row> row = split_row(lines[i], keys);
    if (!row) continue;
    const Result<size_t> found = names.find(row->label);
    if (!found.ok())
      return found.status().with_context(
          fmt::format("{}, line {}{}", path, i + 1,
                      names.size() == 0 ? ", without --classes, a list of class names" : ""));
    const auto [entry, added] = classes.emplace(row->file, *found);
    if (!added && entry->second != *found)
      return invalid_argument(fmt::format("{}, line {}: {} has class {} and class {}", path, i + 1,
                                          row->file, entry->second, *found));
  }
  return classes;
}

Result<std::vector<size_t>> classes_by_table(const DataSet& data, const std::string& path,
                                             const ClassByFile& table) {
  std::vector<size_t> classes;
  for (size_t i = 0; i < data.size(); ++i) {
    auto found = table.find(data.name(i));
    if (found == table.end()) found = table.find(data.path(i));
    if (found == table.end())
      return Status(StatusCode::kNotFound, fmt::format("{} has no row for {}", path, data.name(i)));
    classes.push_back(found->second);
  }
  return classes;
}

// Returns the class of the innermost folder around the sample whose name is a class.
Result<size_t> class_by_folder(const DataSet& data, size_t sample, const ClassNames& names) {
  const fs::path path = data.path(sample);
  const std::string& folder = data.folder(sample);
  const fs::path inside = (folder.empty() ? path : path.lexically_relative(folder)).parent_path();
  const std::vector<fs::path> folders(inside.begin(), inside.end());
  for (auto name = folders.rbegin(); name != folders.rend(); ++name) {
    Result<size_t> found = names.find(name->string());
    if (found.ok() || found.status().code() != StatusCode::kNotFound) return found;
  }
  return Status(StatusCode::kNotFound,
                "no row names the file, and no folder around it is named after a class");
}

Result<std::vector<size_t>> classes_by_folder(const DataSet& data, const std::string& path,
                                              const ClassNames& names) {
  std::vector<size_t> classes;
  for (size_t i = 0; i < data.size(); ++i) {
    const Result<size_t> found = class_by_folder(data, i, names);
    if (!found.ok())
      return found.status().with_context(fmt::format("{} by {}", data.name(i), path));
    classes.push_back(*found);
  }
  return classes;
}

}  // namespace

Result<Labels> read_labels(const DataSet& data, const std::string& file,
                           const std::string& classes_file) {
  Labels labels;
  if (!classes_file.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(labels.names, ClassNames::read(classes_file));
  }
  MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(file));
  if (kind == FileKind::kArray) {
    MILLRACE_ASSIGN_OR_RETURN(labels.classes, classes_in_order(data, file));
    return labels;
  }
  MILLRACE_ASSIGN_OR_RETURN(const ClassByFile table, read_table(file, data, labels.names));
  if (!table.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(labels.classes, classes_by_table(data, file, table));
    return labels;
  }
  MILLRACE_ASSIGN_OR_RETURN(labels.names, ClassNames::read(file));
  MILLRACE_ASSIGN_OR_RETURN(labels.classes, classes_by_folder(data, file, labels.names));
  return labels;
}

}  // namespace millrace::cli
