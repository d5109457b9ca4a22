#include "cli/supervision/output_sink.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/supervision/interruption.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

Status write_output(const std::string& directory, const std::string& name,
                    std::span<const std::byte> bytes) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return io_error("create " + directory, error.value());
  const std::string path = (std::filesystem::path(directory) / name).string();
  CleanInterruption interruption;
  MILLRACE_RETURN_IF_ERROR(interruption.start());
  MILLRACE_RETURN_IF_ERROR(io::write_file(path, bytes));
  fmt::print("wrote {} ({} bytes)\n", path, bytes.size());
  return {};
}

}  // namespace

OutputSink files_in(const std::string& directory) {
  return [directory](const std::string& name, std::span<const std::byte> bytes) {
    return write_output(directory, name, bytes);
  };
}

}  // namespace millrace::cli
