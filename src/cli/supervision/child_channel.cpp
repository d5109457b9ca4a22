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

// In front of each message: its name (a file's; none for a status), and its body (the bytes of the
// file, or the text of the status).
struct Head {
  uint64_t body_bytes = 0;
  uint32_t name_bytes = 0;
  int32_t code = 0;  // of the status
  uint32_t is_status = 0;
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
  Receiver(int channel, int64_t deadline_ns) : channel_(channel), deadline_ns_(deadline_ns) {}

  // Fills the range; false when the channel ends before that.
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

  // Memory is taken as bytes arrive: the child may claim any length.
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
  Status wait() const {
    if (deadline_ns_ == 0) return {};
    for (;;) {
      const int64_t left = deadline_ns_ - now_ns();
      if (left <= 0) return {StatusCode::kDeadlineExceeded, "the time limit has passed"};
      pollfd ready = {channel_, POLLIN, 0};
      const auto timeout = std::min<int64_t>(left / 1'000'000 + 1, INT_MAX);
      if (::poll(&ready, 1, static_cast<int>(timeout)) > 0) return {};
    }
  }

  int channel_;
  int64_t deadline_ns_;
};

// Of an output, so that no other file can be replaced.
bool is_output_name(const std::string& name) {
  return name.ends_with(".bin") && name.find_first_of(std::string("/\0", 2)) == std::string::npos;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool makes_sense(const Head& head, uint64_t most_bytes) {
  constexpr uint64_t kMostText = 1 << 20;
  if (head.is_status == 0) return head.name_bytes <= NAME_MAX && head.body_bytes <= most_bytes;
  return head.name_bytes == 0 && head.body_bytes <= kMostText && head.code >= 0 &&
         head.code <= static_cast<int>(StatusCode::kInternal);
}

}  // namespace

Status send_output(int channel, const std::string& name, std::span<const std::byte> bytes) {
  const auto name_bytes = static_cast<uint32_t>(name.size());
  return send(channel, {.body_bytes = bytes.size(), .name_bytes = name_bytes}, name, bytes);
}

Status send_status(int channel, const Status& status) {
  const std::string text(status.ok() ? std::string_view() : status.message());
  return send(
      channel,
      {.body_bytes = text.size(), .code = static_cast<int32_t>(status.code()), .is_status = 1}, "",
      std::as_bytes(std::span(text)));
}

Result<std::optional<Status>> receive(int channel, const OutputSink& outputs,
                                      const ReceiveLimits& limits) {
  Receiver receiver(channel, limits.deadline_ns);
  for (;;) {
    std::array<std::byte, sizeof(Head)> raw{};
    MILLRACE_ASSIGN_OR_RETURN(const bool goes_on, receiver.read(raw));
    if (!goes_on) return std::optional<Status>();
    Head head;
    std::memcpy(static_cast<void*>(&head), raw.data(), sizeof head);
    if (!makes_sense(head, limits.most_bytes))
      return corrupt_data("the child process sends nonsense");
    std::vector<std::byte> name, body;
    MILLRACE_ASSIGN_OR_RETURN(const bool has_name, receiver.read(head.name_bytes, name));
    MILLRACE_ASSIGN_OR_RETURN(const bool has_body, receiver.read(head.body_bytes, body));
    if (!has_name || !has_body) return std::optional<Status>();
    if (head.is_status != 0) {
      const auto code = static_cast<StatusCode>(head.code);
      if (code == StatusCode::kOk) return std::optional(Status());
      return std::optional(Status(code, text_of(body)));
    }
    const std::string file = text_of(name);
    if (!is_output_name(file)) return corrupt_data("the child process sends nonsense for a name");
    MILLRACE_RETURN_IF_ERROR(outputs(file, body));
  }
}

}  // namespace millrace::cli
