#include "nrt/recording/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/cancellation.h"
#include "model/output_file.h"
#include "model/output_path.h"

namespace millrace::nrt::trace {
namespace {

namespace fs = std::filesystem;

Status named(const std::string& path, const Status& status) {
  if (status.ok()) return status;
  return {StatusCode::kIoError, fmt::format("cannot write {}: {}", path, status.message())};
}

// Makes a file beside it, and removes that.
Status try_beside(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at is found out by the attempt
  if (fs::is_directory(path, ignored)) return io_error("it is a directory", EISDIR);
  model::TemporaryOutput attempt(path);
  MILLRACE_RETURN_IF_ERROR(model::create_file(attempt.name()).status());
  attempt.mark_created();
  return {};
}

}  // namespace

Status write_file(const std::string& path, const std::string& text) {
  const CancellationOff whole;
  return named(path, model::write_text_file(path, text));
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
