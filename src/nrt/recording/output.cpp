#include "nrt/recording/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/cancellation.h"
#include "model/files/output_file.h"
#include "model/files/temporary_output.h"

namespace millrace::nrt::trace {
namespace {

namespace fs = std::filesystem;

Status named(const std::string& path, const Status& status) {
  if (status.ok()) return status;
  return {StatusCode::kIoError, fmt::format("cannot write {}: {}", path, status.message())};
}

// Makes a file for it, and drops that.
Status try_beside(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at is found out by the attempt
  if (fs::is_directory(path, ignored)) return io_error("it is a directory", EISDIR);
  return model::TemporaryFile::create(path).status();
}

}  // namespace

Status write_file(const std::string& path, const std::string& text) {
  const CancellationOff whole;
  return named(path, model::write_whole_file(path, std::as_bytes(std::span(text))));
}

Status check_file(const std::string& path) {
  const CancellationOff whole;
  return named(path, try_beside(path));
}

Status prepare_file(const std::string& path) {
  MILLRACE_RETURN_IF_ERROR(named(path, model::create_directory_of(path)));
  return check_file(path);
}

}  // namespace millrace::nrt::trace
