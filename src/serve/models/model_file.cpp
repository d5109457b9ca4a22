#include "serve/models/model_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/unique_fd.h"
#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"

namespace millrace::serve {
namespace {

constexpr std::string_view kOnnxSuffix = ".onnx";
constexpr std::string_view kArchiveSuffix = ".rai";

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write the compiled model to memory", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<UniqueFd> compile_to_memory(const std::string& path, const Options& options) {
  compiler::CompileOptions compile;
  compile.batch_size = options.batch;
  if (options.precision == "bf16") compile.precision = graph::Precision::kBf16;
  MILLRACE_ASSIGN_OR_RETURN(const graph::CompiledModel model, compiler::compile(path, compile));
  const std::vector<std::byte> archive = model::archive_bytes(graph::encode(model));
  if (archive.empty()) return unsupported("the model is too large to be compiled in memory");
  UniqueFd file(memfd_create("millrace-serve", MFD_CLOEXEC));
  if (!file) return io_error("create a file in memory", errno);
  MILLRACE_RETURN_IF_ERROR(write_all(file.get(), archive));
  return file;
}

Result<Model> load_compiled(const std::string& path, const Options& options, Device& device) {
  MILLRACE_ASSIGN_OR_RETURN(const UniqueFd file, compile_to_memory(path, options));
  return device.load(fmt::format("/proc/self/fd/{}", file.get()));
}

}  // namespace

std::string served_name(const std::string& path) {
  std::filesystem::path file(path);
  if (!file.has_filename()) file = file.parent_path();  // a folder that ends with a slash
  const bool known = file.extension() == kOnnxSuffix || file.extension() == kArchiveSuffix;
  return known ? file.stem().string() : file.filename().string();
}

Result<Model> load_model_file(const std::string& path, const Options& options, Device& device) {
  const bool compiled_here = path.ends_with(kOnnxSuffix);
  Result<Model> model = compiled_here ? load_compiled(path, options, device) : device.load(path);
  if (!model.ok() && model.status().message().find(path) == std::string::npos)
    return model.status().with_context(path);
  return model;
}

}  // namespace millrace::serve
