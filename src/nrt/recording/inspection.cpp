#include "nrt/recording/inspection.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "nrt/recording/event_json.h"
#include "nrt/recording/output.h"

namespace millrace::nrt::trace {

std::string system_profile_in(const std::string& directory, std::string_view session) {
  return std::filesystem::path(directory) / fmt::format("system_profile_{}.json", session);
}

Inspection& Inspection::of_process() {
  static auto* const inspection = new Inspection;
  return *inspection;
}

Status Inspection::begin(const std::string& file, const Capture& capture) {
  const std::lock_guard lock(mutex_);
  MILLRACE_RETURN_IF_ERROR(prepare_file(file));
  MILLRACE_RETURN_IF_ERROR(finish());
  recording_.start(capture);
  file_ = file;
  return {};
}

Status Inspection::end() {
  const std::lock_guard lock(mutex_);
  return finish();
}

Status Inspection::end_for_good(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (file_ != file) return {};
  Status written = finish();
  if (!written.ok()) recording_.stop();
  file_.clear();
  return written;
}

// Creates the directory again, since it may have been removed after begin().
Status Inspection::finish() {
  const std::optional<Status> finished = recording_.finish([this](std::span<const Event> events) {
    MILLRACE_RETURN_IF_ERROR(prepare_file(file_));
    return write_file(file_, to_json(events));
  });
  if (!finished) return {};
  if (finished->ok()) file_.clear();
  return *finished;
}

}  // namespace millrace::nrt::trace
