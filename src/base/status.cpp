#include "base/format_status.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/never_destroyed.h"

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

// Statuses with the general meaning of each code as message, which are used when memory is
// exhausted. They are made when the library is loaded, and never destroyed.
struct Status::Meanings {
  static inline const Rep* const of_codes = new Rep[]{
#define MILLRACE_X(enumerator, text, meaning) {StatusCode::enumerator, meaning},
      MILLRACE_STATUS_CODES(MILLRACE_X)
#undef MILLRACE_X
  };
};

template <class Message>
std::shared_ptr<const Status::Rep> Status::make_rep(StatusCode code, Message&& message) noexcept {
  if (code == StatusCode::kOk) return nullptr;
  try {
    return std::make_shared<const Rep>(Rep{code, std::forward<Message>(message)});
  } catch (const std::bad_alloc&) {
    // The aliasing constructor makes a pointer that owns nothing, without an allocation.
    return {std::shared_ptr<const Rep>(), &Meanings::of_codes[static_cast<size_t>(code)]};
  }
}

Status::Status(StatusCode code, std::string message) noexcept
    : rep_(make_rep(code, std::move(message))) {}

Status::Status(StatusCode code, const char* message) noexcept : rep_(make_rep(code, message)) {}

const std::string& Status::message() const noexcept {
  static NeverDestroyed<std::string> empty;
  return rep_ ? rep_->message : empty.get();
}

std::string Status::to_string() const {
  if (ok()) return "OK";
  return fmt::format("{}: {}", millrace::to_string(rep_->code), rep_->message);
}

Status Status::with_context(std::string_view context) const noexcept {
  if (ok()) return {};
  return format_status(rep_->code, "{}: {}", context, rep_->message);
}

const char* error_text(int error_number) noexcept {
  const char* const text = strerrordesc_np(error_number);
  return text != nullptr ? text : "unknown error";
}

Status io_error(std::string_view what, int error_number) noexcept {
  const StatusCode code = error_number == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError;
  return format_status(code, "{}: {}", what, error_text(error_number));
}

}  // namespace millrace
