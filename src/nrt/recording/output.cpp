#include "nrt/recording/output.h"

#include <fmt/format.h>

#include <span>

#include "base/cancellation.h"
#include "base/files/output_target.h"
#include "model/files/output_file.h"
#include "model/files/temporary_output.h"

namespace millrace::nrt::trace {
namespace {

Status named(const std::string& path, const Status& status) {
  if (status.ok()) return status;
  return {StatusCode::kIoError, fmt::format("cannot write {}: {}", path, status.message())};
}

// Creates the temporary file that writing the path needs, and removes it. A stream needs none.
Status try_beside(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const OutputTarget target, output_target(path));
  return target.is_stream ? Status() : model::TemporaryFile::create(path).status();
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
