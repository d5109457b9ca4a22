#include "serve/models/model_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/unique_fd.h"
#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "model/archive_header.h"
#include "model/archive_writer.h"

namespace millrace::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOnnxSuffix = ".onnx";
constexpr std::string_view kArchiveSuffix = ".rai";
constexpr const char* kOnlyVersion = "1";
constexpr const char* kLabelsFile = "labels.txt";
constexpr const char* kSettingsFile = "millrace.json";

bool is_archive_folder(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / model::kPartDirectory / model::kStructureFile, error);
}

// A folder of models, and no archive in the form of a directory.
bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && !is_archive_folder(path);
}

bool is_model(const fs::path& path) {
  return path.extension() == kOnnxSuffix || path.extension() == kArchiveSuffix ||
         is_archive_folder(path);
}

std::string name_of(fs::path path) {
  if (!path.has_filename()) path = path.parent_path();  // a folder that ends with a slash
  const bool known = path.extension() == kOnnxSuffix || path.extension() == kArchiveSuffix;
  return known ? path.stem().string() : path.filename().string();
}

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (auto entry = fs::directory_iterator(folder, error); entry != fs::directory_iterator();
       entry.increment(error))
    if (!entry->path().filename().string().starts_with('.')) entries.push_back(entry->path());
  if (error) return io_error("read " + folder.string(), error.value());
  std::ranges::sort(entries);
  return entries;
}

// The path of a file of a folder; empty if there is none.
std::string path_in(const fs::path& folder, const char* file) {
  std::error_code error;
  return fs::exists(folder / file, error) ? (folder / file).string() : std::string();
}

// Adds the model of a folder, if there is one.
Status try_add_file(const fs::path& folder, const std::string& name, const std::string& version,
                    const std::string& settings, std::vector<ModelFile>& models) {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<fs::path> files, entries_of(folder));
  std::erase_if(files, [](const fs::path& file) { return !is_model(file); });
  if (files.size() > 1)
    return invalid_argument(
        fmt::format("{} has several models: give each a folder", folder.string()));
  if (files.empty()) return {};
  models.push_back({name, version, files.front().string(), path_in(folder, kLabelsFile), settings});
  return {};
}

void add_file(const fs::path& folder, const std::string& name, const std::string& version,
              const std::string& settings, FoundModels& models) {
  Status status = try_add_file(folder, name, version, settings, models.files);
  if (!status.ok()) models.failed.push_back({{name, version, folder.string()}, std::move(status)});
}

bool is_version(const fs::path& path) {
  const std::string name = path.filename().string();
  return is_folder(path) && name.find_first_not_of("0123456789") == std::string::npos &&
         name.front() != '0';
}

// Adds what is in REPOSITORY/NAME.
void add_versions(const fs::path& folder, FoundModels& models) {
  const std::string name = folder.filename().string();
  Result<std::vector<fs::path>> versions = entries_of(folder);
  if (!versions.ok()) {
    models.failed.push_back({{name, kOnlyVersion, folder.string()}, versions.status()});
    return;
  }
  std::erase_if(*versions, [](const fs::path& entry) { return !is_version(entry); });
  const std::string settings = path_in(folder, kSettingsFile);
  if (versions->empty()) return add_file(folder, name, kOnlyVersion, settings, models);
  for (const fs::path& version : *versions)
    add_file(version, name, version.filename().string(), settings, models);
}

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write the compiled model to memory", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<UniqueFd> compile_to_memory(const std::string& path, const Compilation& how) {
  compiler::CompileOptions compile;
  compile.batch_size = how.batch;
  if (how.precision == "bf16") compile.precision = graph::Precision::kBf16;
  MILLRACE_ASSIGN_OR_RETURN(const graph::CompiledModel model, compiler::compile(path, compile));
  const std::vector<std::byte> archive = model::archive_bytes(graph::encode(model));
  if (archive.empty()) return unsupported("the model is too large to be compiled in memory");
  UniqueFd file(memfd_create("millrace-serve", MFD_CLOEXEC));
  if (!file) return io_error("create a file in memory", errno);
  MILLRACE_RETURN_IF_ERROR(write_all(file.get(), archive));
  return file;
}

Result<Model> load_compiled(const std::string& path, const Compilation& how, Device& device) {
  MILLRACE_ASSIGN_OR_RETURN(const UniqueFd file, compile_to_memory(path, how));
  return device.load(fmt::format("/proc/self/fd/{}", file.get()));
}

}  // namespace

bool is_repository(const std::string& path) {
  return is_folder(path);
}

Result<FoundModels> find_models(const std::string& path) {
  const fs::path root(path);
  if (!is_folder(root)) return FoundModels{{{name_of(root), kOnlyVersion, path}}, {}};
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<fs::path> entries, entries_of(root));
  FoundModels models;
  for (const fs::path& entry : entries) {
    if (is_model(entry))
      models.files.push_back(
          {name_of(entry), kOnlyVersion, entry.string(), {}, path_in(root, kSettingsFile)});
    else if (is_folder(entry))
      add_versions(entry, models);
  }
  if (models.files.empty() && models.failed.empty())
    return Status(StatusCode::kNotFound, path + " has no .onnx file and no archive");
  return models;
}

Result<Model> load_model_file(const std::string& path, const Compilation& how, Device& device) {
  const bool compiled_here = path.ends_with(kOnnxSuffix);
  Result<Model> model = compiled_here ? load_compiled(path, how, device) : device.load(path);
  if (!model.ok() && model.status().message().find(path) == std::string::npos)
    return model.status().with_context(path);
  return model;
}

}  // namespace millrace::serve
