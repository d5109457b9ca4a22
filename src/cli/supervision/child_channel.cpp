// A message is a fixed head, a name and a body. Both processes are the same program, so the head is
// sent as it is in memory. Memory for a body grows as its bytes arrive, whatever length the child
// claims.
#include "cli/supervision/child_channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <vector>

#include "base/clock.h"

namespace millrace::cli {
namespace {

// A message carries a file, the status, or the names of all files, each followed by NUL.
enum class Kind : uint32_t { kFile, kStatus, kNames };

// Each message begins with a head, followed by the name (of a file; other messages have none) and
// the body (the bytes of the file, the text of the status, or the names).
struct Head {
  uint64_t body_bytes = 0;
  uint32_t name_bytes = 0;
  int32_t code = 0;  // status code
  Kind kind = Kind::kFile;
};

Status write_all(int channel, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(channel, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("cannot write to the parent process", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status send(int channel, const Head& head, const std::string& name,
            std::span<const std::byte> body) {
  MILLRACE_RETURN_IF_ERROR(write_all(channel, std::as_bytes(std::span(&head, 1))));
  MILLRACE_RETURN_IF_ERROR(write_all(channel, std::as_bytes(std::span(name))));
  return write_all(channel, body);
}

class Receiver {
 public:
  Receiver(int channel, int64_t deadline_ns, ChildText* text)
      : channel_(channel), deadline_ns_(deadline_ns), text_(text) {}

  // Fills the range. Returns false if the channel ends before.
  Result<bool> read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      MILLRACE_RETURN_IF_ERROR(wait());
      const ssize_t got = ::read(channel_, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return io_error("cannot read from the child process", errno);
      if (got == 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(got));
    }
    return true;
  }

  // Appends bytes up to `length`. Memory grows as bytes arrive: the child may claim any length.
  Result<bool> read(uint64_t length, std::vector<std::byte>& bytes) {
    constexpr uint64_t kPiece = 1 << 20;
    while (bytes.size() < length) {
      const size_t before = bytes.size();
      bytes.resize(before + static_cast<size_t>(std::min(kPiece, length - before)));
      MILLRACE_ASSIGN_OR_RETURN(const bool whole, read(std::span(bytes).subspan(before)));
      if (!whole) return false;
    }
    return true;
  }

 private:
  // Waits until the channel can be read, and passes on what the child prints meanwhile.
  Status wait() {
    if (deadline_ns_ == 0 && text_ == nullptr) return {};
    for (;;) {
      int timeout = -1;
      if (deadline_ns_ != 0) {
        const int64_t left = deadline_ns_ - now_ns();
        if (left <= 0) return {StatusCode::kDeadlineExceeded, "the time limit has passed"};
        timeout = static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, INT_MAX));
      }
      MILLRACE_ASSIGN_OR_RETURN(const bool ready, poll_once(timeout));
      if (ready) return {};
    }
  }

  // Returns whether the channel can be read. Passes on text if the child printed some.
  Result<bool> poll_once(int timeout) {
    pollfd ready[] = {{channel_, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
    if (text_ != nullptr) {
      ready[1].fd = text_->output.reading();
      ready[2].fd = text_->error.reading();
    }
    if (::poll(ready, std::size(ready), timeout) <= 0) return false;
    if (text_ != nullptr) MILLRACE_RETURN_IF_ERROR(text_->pass_on());
    return ready[0].revents != 0;
  }

  int channel_;
  int64_t deadline_ns_;
  ChildText* text_;
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool makes_sense(const Head& head, uint64_t most_bytes) {
  constexpr uint64_t kMostText = 1 << 20;
  if (head.kind == Kind::kFile) return head.name_bytes <= NAME_MAX && head.body_bytes <= most_bytes;
  return (head.kind == Kind::kStatus || head.kind == Kind::kNames) && head.name_bytes == 0 &&
         head.body_bytes <= kMostText && head.code >= 0 &&
         head.code <= static_cast<int>(StatusCode::kInternal);
}

std::vector<std::string> names_of(const std::string& body) {
  std::vector<std::string> names;
  for (size_t begin = 0, end; (end = body.find('\0', begin)) != std::string::npos; begin = end + 1)
    names.push_back(body.substr(begin, end - begin));
  return names;
}

Status status_of(const Head& head, const std::string& text) {
  const auto code = static_cast<StatusCode>(head.code);
  return code == StatusCode::kOk ? Status() : Status(code, text);
}

// Gives the sink a file, or the names of all files.
Status pass_on(const Head& head, const std::string& name, std::span<const std::byte> body,
               const OutputSink& outputs) {
  if (head.kind == Kind::kNames) return outputs.settle(names_of(text_of(body)));
  if (!is_output_name(name)) return corrupt_data("malformed name received from the child process");
  return outputs(name, body);
}

}  // namespace

Status send_names(int channel, const std::vector<std::string>& names) {
  std::string body;
  for (const std::string& name : names) body += name + '\0';
  return send(channel, {.body_bytes = body.size(), .kind = Kind::kNames}, "",
              std::as_bytes(std::span(body)));
}

Status send_output(int channel, const std::string& name, std::span<const std::byte> bytes) {
  const auto name_bytes = static_cast<uint32_t>(name.size());
  return send(channel, {.body_bytes = bytes.size(), .name_bytes = name_bytes}, name, bytes);
}

Status send_status(int channel, const Status& status) {
  const std::string text(status.ok() ? std::string_view() : status.message());
  return send(channel,
              {.body_bytes = text.size(),
               .code = static_cast<int32_t>(status.code()),
               .kind = Kind::kStatus},
              "", std::as_bytes(std::span(text)));
}

Result<std::optional<Status>> receive(int channel, const OutputSink& outputs,
                                      const ReceiveLimits& limits, ChildText* text) {
  Receiver receiver(channel, limits.deadline_ns, text);
  for (;;) {
    std::array<std::byte, sizeof(Head)> raw{};
    MILLRACE_ASSIGN_OR_RETURN(const bool goes_on, receiver.read(raw));
    if (!goes_on) return std::optional<Status>();
    Head head;
    std::memcpy(static_cast<void*>(&head), raw.data(), sizeof head);
    if (!makes_sense(head, limits.most_bytes))
      return corrupt_data("malformed message received from the child process");
    std::vector<std::byte> name, body;
    MILLRACE_ASSIGN_OR_RETURN(const bool has_name, receiver.read(head.name_bytes, name));
    MILLRACE_ASSIGN_OR_RETURN(const bool has_body, receiver.read(head.body_bytes, body));
    if (!has_name || !has_body) return std::optional<Status>();
    if (head.kind == Kind::kStatus) return std::optional(status_of(head, text_of(body)));
    // Text that was printed before a file precedes what the sink prints about the file.
    if (text != nullptr) MILLRACE_RETURN_IF_ERROR(text->pass_on());
    MILLRACE_RETURN_IF_ERROR(pass_on(head, text_of(name), body, outputs));
  }
}

}  // namespace millrace::cli
