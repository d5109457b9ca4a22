#include "cli/supervision/child_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/printable.h"

namespace millrace::cli {
namespace {

// Limit of the text of a stream, since a child could print for ever.
constexpr uint64_t kMostBytes = uint64_t{64} << 20;
// A line that is longer than this is printed in pieces.
constexpr size_t kLongLine = size_t{1} << 16;

Status too_much() {
  return {StatusCode::kResourceExhausted,
          fmt::format("the model prints more than {} MiB: write large outputs to --output-dir",
                      kMostBytes >> 20)};
}

}  // namespace

Result<ChildStream> ChildStream::open(std::FILE* to) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return io_error("cannot make a pipe", errno);
  ChildStream stream;
  stream.to_ = to;
  stream.reading_ = UniqueFd(ends[0]);
  stream.writing_ = UniqueFd(ends[1]);
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return io_error("cannot read a pipe", errno);
  return stream;
}

Status ChildStream::pass_on() {
  std::array<char, kLongLine> piece;
  while (reading_) {
    const ssize_t got = ::read(reading_.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) reading_ = UniqueFd();
    passed_ += static_cast<uint64_t>(got);
    if (passed_ > kMostBytes) return too_much();
    line_.append(piece.data(), static_cast<size_t>(got));
    print_whole_lines();
  }
  return {};
}

Status ChildStream::finish() {
  const Status status = pass_on();
  print(line_);
  line_.clear();
  return status;
}

void ChildStream::print(std::string_view text) {
  const std::string shown = printable_lines(text);
  std::fwrite(shown.data(), 1, shown.size(), to_);
}

void ChildStream::print_whole_lines() {
  const size_t end = line_.rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  const size_t length = line_.size() - whole < kLongLine ? whole : line_.size();
  print(std::string_view(line_).substr(0, length));
  line_.erase(0, length);
}

Result<ChildText> ChildText::open() {
  ChildText text;
  MILLRACE_ASSIGN_OR_RETURN(text.output, ChildStream::open(stdout));
  MILLRACE_ASSIGN_OR_RETURN(text.error, ChildStream::open(stderr));
  return text;
}

void ChildText::close_writing() noexcept {
  output.close_writing();
  error.close_writing();
}

Status ChildText::pass_on() {
  MILLRACE_RETURN_IF_ERROR(output.pass_on());
  return error.pass_on();
}

Status ChildText::finish() {
  const Status status = output.finish(), of_errors = error.finish();
  return status.ok() ? of_errors : status;
}

}  // namespace millrace::cli
