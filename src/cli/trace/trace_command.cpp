// `millrace trace`: runs a program with MILLRACE_TRACE set, and says what is in the trace. What it
// prints goes to standard error, since standard output is that of the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/files/known_file.h"
#include "base/files/output_target.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "cli/commands.h"
#include "cli/trace/trace_summary.h"
#include "io/file.h"
#include "timeline/page.h"

namespace millrace::cli {
namespace {

constexpr std::string_view kJson = ".json", kPage = ".html";

// While it exists, Ctrl-C ends the program that runs, and not this one, which waits for it.
class InterruptionsIgnored {
 public:
  InterruptionsIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &ignore, &before_[i]);
  }
  ~InterruptionsIgnored() {
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  InterruptionsIgnored(const InterruptionsIgnored&) = delete;
  InterruptionsIgnored& operator=(const InterruptionsIgnored&) = delete;

  // Returns those of the signals that the program must not ignore.
  sigset_t not_ignored_before() const {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < std::size(kSignals); ++i)
      if (before_[i].sa_handler != SIG_IGN) sigaddset(&set, kSignals[i]);
    return set;
  }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT};
  struct sigaction before_[std::size(kSignals)]{};
};

Result<pid_t> start(const std::vector<std::string>& command, const sigset_t& default_signals) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &default_signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return io_error("start " + command[0], error);
  return process;
}

// Returns the exit code of the process, or 128 + the signal that ended it, as shells do.
int wait_for(pid_t process) {
  int state = 0;
  while (::waitpid(process, &state, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

Result<int> run_program(const std::vector<std::string>& command) {
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid() does not return how the program ended
  const InterruptionsIgnored ignored;
  MILLRACE_ASSIGN_OR_RETURN(const pid_t process, start(command, ignored.not_ignored_before()));
  return wait_for(process);
}

FileIdentity file_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev, .inode = info.st_ino, .known = true};
}

// Says what the program has left. `before` is the file that was there at its start, which a trace
// replaces.
std::string report(const std::string& path, const FileIdentity& before) {
  const FileIdentity after = file_at(path);
  if (!after.known || after == before)
    return "the program has left no trace: it has opened no device, or was killed";
  const auto bytes = io::read_file(path);
  if (!bytes.ok()) return bytes.status().message();
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (path.ends_with(kPage)) text = timeline::trace_in(text);
  const Result<TraceSummary> summary = summary_of_trace(text);
  return fmt::format("{}: {}", path,
                     summary.ok() ? summary_text(*summary) : summary.status().message());
}

}  // namespace

Status check_trace(const TraceArguments& arguments) {
  if (arguments.output.ends_with(kJson) || arguments.output.ends_with(kPage)) return {};
  return invalid_argument(
      fmt::format("--output {}: the name must end with {} or {}", arguments.output, kJson, kPage));
}

Result<int> run_trace(const TraceArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_output(arguments.output));
  const std::string path = std::filesystem::absolute(arguments.output);
  if (path.find("%p") != std::string::npos)
    return invalid_argument(fmt::format(
        "--output {}: MILLRACE_TRACE puts the id of a process in the place of %p", path));
  // Open until the end, so that no new file gets the number of this one.
  const UniqueFd kept(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const FileIdentity before = file_at(path);
  ::setenv("MILLRACE_TRACE", path.c_str(), 1);
  MILLRACE_ASSIGN_OR_RETURN(const int exit_code, run_program(arguments.command));
  fmt::print(stderr, "millrace: {}\n", printable(report(arguments.output, before)));
  return exit_code;
}

}  // namespace millrace::cli
