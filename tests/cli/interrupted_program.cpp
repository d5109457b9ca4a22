#include "tests/cli/interrupted_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <seccomp.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace millrace::test {
namespace {

// Makes a call fail as on a file system that cannot do it.
bool refuse(int call, int error, const scmp_arg_cmp& condition) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  return filter != nullptr &&
         seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), call, 1,
                          condition) == 0 &&
         seccomp_load(filter) == 0;
}

bool refuse_what_is_missing(const InterruptionPlan& plan) {
  if (!plan.unlisted_files &&
      !refuse(SCMP_SYS(openat), EOPNOTSUPP, SCMP_A2(SCMP_CMP_MASKED_EQ, O_TMPFILE, O_TMPFILE)))
    return false;
  return plan.exchanges ||
         refuse(SCMP_SYS(renameat2), EINVAL, SCMP_A4(SCMP_CMP_EQ, RENAME_EXCHANGE, 0));
}

[[noreturn]] void become_traced(const std::vector<std::string>& command,
                                const std::string& directory, const InterruptionPlan& plan) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int null = ::open("/dev/null", O_RDWR);
  if (::chdir(directory.c_str()) == 0 && ::dup2(null, STDOUT_FILENO) >= 0 &&
      ::dup2(null, STDERR_FILENO) >= 0 && refuse_what_is_missing(plan) &&
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0)
    ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

bool writes_file(const __ptrace_syscall_info& call) {
  return call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr == SYS_write &&
         call.entry.args[0] > STDERR_FILENO;
}

bool changes_folder(const __ptrace_syscall_info& call) {
  if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
  switch (call.entry.nr) {
    case SYS_openat:
      return (call.entry.args[2] & (O_WRONLY | O_RDWR)) != 0;
    case SYS_linkat:
    case SYS_renameat2:
    case SYS_unlinkat:
    case SYS_mkdirat:
#ifdef SYS_rename
    case SYS_rename:
    case SYS_mkdir:
    case SYS_unlink:
    case SYS_rmdir:
#endif
      return true;
    default:
      return false;
  }
}

// Returns false when the program has ended.
bool run_to_call(pid_t child, int call, int& state) {
  bool writing = false;
  for (int seen = 0;;) {
    if (::waitpid(child, &state, 0) != child || !WIFSTOPPED(state)) return false;
    // Without this option, stops at calls look like other stops.
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD);
    __ptrace_syscall_info info{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
    const bool counts = changes_folder(info) || (writes_file(info) && !writing);
    if (counts && seen++ == call) return true;
    if (counts) writing = writes_file(info);
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
}

}  // namespace

Interruption interrupt_program(const std::vector<std::string>& command,
                               const std::string& directory, const InterruptionPlan& plan) {
  const pid_t child = ::fork();
  if (child == 0) become_traced(command, directory, plan);
  Interruption result;
  int state = 0;
  result.reached = run_to_call(child, plan.call, state);
  if (result.reached) {
    ::kill(child, plan.signal);
    ::ptrace(PTRACE_DETACH, child, nullptr, nullptr);
    ::waitpid(child, &state, 0);
  }
  result.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return result;
}

}  // namespace millrace::test
