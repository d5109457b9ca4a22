// The program reads and writes files in memory, so that no pipe can be full.
#include "cli/inspect/graphviz.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "cli/progress.h"

namespace millrace::cli {
namespace {

Result<UniqueFd> memory_file() {
  UniqueFd file(::memfd_create("millrace-graph", MFD_CLOEXEC));
  if (file.get() < 0) return io_error("make a file in memory", errno);
  return file;
}

Status write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return io_error("write a file in memory", errno);
    text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return ::lseek(file, 0, SEEK_SET) < 0 ? io_error("read a file in memory", errno) : Status();
}

Result<std::vector<std::byte>> read_all(int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return io_error("read a file in memory", errno);
  std::vector<std::byte> bytes(static_cast<size_t>(info.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t read =
        ::pread(file, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(filled));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return io_error("read a file in memory", errno);
    filled += static_cast<size_t>(read);
  }
  return bytes;
}

// Starts dot with these files as its standard streams.
Result<pid_t> start_dot(std::string option, int input, int output, int errors) {
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, errors, STDERR_FILENO);
  std::string program = "dot";
  char* const arguments[] = {program.data(), option.data(), nullptr};
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, program.c_str(), &streams, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&streams);
  if (error == ENOENT)
    return unsupported(
        "Graphviz is not installed, whose program dot draws the picture: install the package "
        "graphviz, or write the graph itself to a .dot file");
  if (error != 0) return io_error("start dot", error);
  return process;
}

std::string_view first_line_of(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// Waits for the end of the process, and returns whether it succeeded.
bool has_succeeded(pid_t process) {
  int state = 0;
  while (::waitpid(process, &state, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

}  // namespace

Result<std::vector<std::byte>> drawn_by_graphviz(std::string_view dot, const std::string& format) {
  MILLRACE_ASSIGN_OR_RETURN(const UniqueFd input, memory_file());
  MILLRACE_ASSIGN_OR_RETURN(const UniqueFd output, memory_file());
  MILLRACE_ASSIGN_OR_RETURN(const UniqueFd errors, memory_file());
  MILLRACE_RETURN_IF_ERROR(write_all(input.get(), dot));
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid() does not return how the program ended
  const BusyLine progress("dot");
  MILLRACE_ASSIGN_OR_RETURN(const pid_t process,
                            start_dot("-T" + format, input.get(), output.get(), errors.get()));
  if (has_succeeded(process)) return read_all(output.get());
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> said, read_all(errors.get()));
  const std::string_view text(reinterpret_cast<const char*>(said.data()), said.size());
  return internal_error(fmt::format("dot could not draw the graph: {}", first_line_of(text)));
}

}  // namespace millrace::cli
