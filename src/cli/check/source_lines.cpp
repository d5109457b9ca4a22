#include "cli/check/source_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongest{20};
constexpr size_t kMostText = size_t{16} << 20;
// The system limits the size of a command line.
constexpr size_t kMostAtOnce = 1000;

Result<pid_t> start(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&streams, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, arguments[0], &streams, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (error == ENOENT)
    return unsupported(
        "addr2line, which finds the lines of sources, is not installed: "
        "install the package binutils");
  if (error != 0) return io_error("start " + command[0], error);
  return process;
}

// Reads until the end of the pipe.
Result<std::string> read_until(int pipe, Clock::time_point limit) {
  std::string text;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0)
      return Status(StatusCode::kDeadlineExceeded, "addr2line takes too long: no lines are shown");
    char piece[4096];
    const ssize_t size = ::read(pipe, piece, sizeof piece);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return io_error("read what addr2line prints", errno);
    if (size == 0) return text;
    text.append(piece, static_cast<size_t>(size));
    if (text.size() > kMostText) return internal_error("addr2line prints too much");
  }
}

// Runs a program, and returns what it prints.
Result<std::string> output_of(const std::vector<std::string>& command, Clock::time_point limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return io_error("make a pipe", errno);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  MILLRACE_ASSIGN_OR_RETURN(const pid_t process, start(command, writer.get()));
  writer = UniqueFd();
  Result<std::string> text = read_until(reader.get(), limit);
  if (!text.ok()) ::kill(process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// Returns the line without what addr2line adds; empty if it knows no line.
std::string_view line_of(std::string_view text) {
  text = text.substr(0, text.find(" (discriminator"));
  const size_t colon = text.rfind(':');
  const bool known = colon != std::string_view::npos && !text.starts_with("??") &&
                     text.find_first_of("123456789", colon) != std::string_view::npos;
  return known ? text : std::string_view();
}

// A line of a source, and the function in which it is.
struct SourcePlace {
  std::string function, line;
};

// Names the functions only where a call was inlined: otherwise the stack has named it.
std::string text_of(const std::vector<SourcePlace>& chain) {
  std::string text;
  for (const SourcePlace& place : chain) {
    if (!text.empty()) text += kInlinedAt;
    text += place.line;
    if (chain.size() > 1 && !place.function.starts_with("??")) text += " in " + place.function;
  }
  return text;
}

// Reads, for each place, its address, and a function and a line for each level of inlining until
// the next address.
void add_lines(std::string_view text, const std::vector<CodePlace>& places, SourceLines& lines) {
  size_t next = 0;
  std::vector<SourcePlace> chain;
  const auto finish = [&] {
    if (!chain.empty()) lines[places[next - 1]] = text_of(chain);
    chain.clear();
  };
  std::optional<std::string> function;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!function && line.starts_with("0x") &&
        line.find_first_not_of("0123456789abcdef", 2) == line.npos) {
      finish();
      if (next++ == places.size()) return;
    } else if (!function) {
      function = line;
    } else {
      const std::string_view source = line_of(line);
      if (next != 0 && !source.empty()) chain.push_back({*function, std::string(source)});
      function.reset();
    }
  }
  finish();
}

}  // namespace

Result<SourceLines> source_lines(const std::set<CodePlace>& places) {
  const Clock::time_point limit = Clock::now() + kLongest;
  SourceLines lines;
  for (auto place = places.begin(); place != places.end();) {
    const std::string& path = place->path;
    std::vector<CodePlace> of_file;
    for (; place != places.end() && place->path == path && of_file.size() < kMostAtOnce; ++place)
      of_file.push_back(*place);
    if (!path.starts_with('/')) continue;  // of no file, or of none that can be found again
    std::vector<std::string> command = {"addr2line",  "--addresses", "--inlines", "--functions",
                                        "--demangle", "--exe",       path,        "--"};
    for (const CodePlace& each : of_file) command.push_back(each.offset);
    MILLRACE_ASSIGN_OR_RETURN(const std::string text, output_of(command, limit));
    add_lines(text, of_file, lines);
  }
  return lines;
}

}  // namespace millrace::cli
