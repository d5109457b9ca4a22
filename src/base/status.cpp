#include "base/status.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace millrace {

std::string_view to_string(StatusCode code) noexcept {
  switch (code) {
#define MILLRACE_X(enumerator, text, meaning) \
  case StatusCode::enumerator:                \
    return text;
    MILLRACE_STATUS_CODES(MILLRACE_X)
#undef MILLRACE_X
  }
  return "UNKNOWN";
}

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::kOk) rep_ = std::make_shared<const Rep>(Rep{code, std::move(message)});
}

const std::string& Status::message() const noexcept {
  static const std::string empty;
  return rep_ ? rep_->message : empty;
}

std::string Status::to_string() const {
  if (ok()) return "OK";
  return fmt::format("{}: {}", millrace::to_string(rep_->code), rep_->message);
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return {};
  return {rep_->code, fmt::format("{}: {}", context, rep_->message)};
}

Status io_error(std::string_view what, int error_number) {
  const StatusCode code = error_number == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError;
  return {code, fmt::format("{}: {}", what, std::generic_category().message(error_number))};
}

}  // namespace millrace
