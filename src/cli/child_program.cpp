#include "cli/child_program.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>

#include "base/files/output_target.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

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

}  // namespace

Result<int> run_child_program(const std::vector<std::string>& command) {
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid() does not return how the program ended
  const InterruptionsIgnored ignored;
  MILLRACE_ASSIGN_OR_RETURN(const pid_t process, start(command, ignored.not_ignored_before()));
  return wait_for(process);
}

}  // namespace millrace::cli
