// The filter is built with libseccomp. A rule allows a call, or answers it with an error number; a
// call without a matching rule raises SIGSYS (SCMP_ACT_TRAP). Filters see arguments only, never the
// memory that they point to, and a rule's conditions must all hold: alternatives need a rule each.
#include "cli/supervision/sandbox_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace millrace::cli {
namespace {

// System calls that are allowed with any arguments. They are listed by name, since a machine that
// does not have a call needs no rule for it.
constexpr const char* kAllowed[] = {
    // Memory.
    "brk", "madvise", "mincore", "mlock", "mprotect", "mremap", "munlock", "munmap",
    // Threads, and waiting.
    "arch_prctl", "clock_getres", "clock_gettime", "clock_nanosleep", "exit", "exit_group", "futex",
    "futex_waitv", "get_robust_list", "getcpu", "getrusage", "gettid", "gettimeofday", "membarrier",
    "nanosleep", "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
    "rt_sigreturn", "rt_sigtimedwait", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
    "sched_yield", "set_robust_list", "set_tid_address", "sigaltstack", "time", "times",
    // Descriptors that are open already, and those that only this process can use.
    "close", "close_range", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2",
    "fadvise64", "fstat", "fstatfs", "pipe2", "poll", "ppoll", "pread64", "preadv", "pselect6",
    "read", "readv", "select", "timerfd_create", "timerfd_settime", "write", "writev",
    // Queries about files and the system.
    "access", "faccessat", "faccessat2", "getcwd", "getdents64", "getegid", "geteuid", "getgid",
    "getpgrp", "getpid", "getppid", "getrandom", "getuid", "lstat", "newfstatat", "readlink",
    "readlinkat", "stat", "statfs", "statx", "sysinfo", "uname"};

// Calls that fail with ENOSYS, as on a kernel without them, so that libraries do without. The C
// library replaces the first two, whose arguments are in memory, where a filter cannot look, by
// older calls. Memory files (memfd_create) would escape the memory limit, since they do not count
// in the address space. The others place memory on NUMA nodes, which is left to the system.
constexpr const char* kMissing[] = {"clone3", "openat2",       "memfd_create",
                                    "mbind",  "set_mempolicy", "get_mempolicy"};

// The first call that libseccomp 2.5 of Debian 12 does not know, and a number beyond all existing
// calls. Newer C libraries try such calls first.
constexpr int kFirstUnknown = 451, kEndOfUnknown = 512;

// The ioctl TCGETS2, which C libraries from 2025 on use instead of TCGETS. The header that defines
// it conflicts with those of the C library.
constexpr uint64_t kTcgets2 = 0x802C542A;

// PR_SET_VMA of prctl, with which newer C libraries name their memory.
constexpr uint64_t kPrSetVma = 0x53564d41;

// Mask for arguments of which the kernel reads 32 bits while a filter compares 64.
constexpr uint64_t kNumber = 0xffffffff;

// Builds the filter and remembers the first failure, which load() returns.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_TRAP)) {
    keep(context_ ? seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)
                  : -ENOMEM);
  }

  void add(uint32_t action, const char* call, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    const int number = seccomp_syscall_resolve_name(call);
    if (number != __NR_SCMP_ERROR) add(action, number, conditions);
  }

  void add(uint32_t action, int number, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    if (failure_ != 0) return;
    const auto count = static_cast<unsigned>(conditions.size());
    keep(seccomp_rule_add_array(context_.get(), action, number, count, conditions.begin()));
  }

  // Installs the filter. Returns 0, or a negative error number.
  int load() {
    if (failure_ == 0) keep(seccomp_load(context_.get()));
    return failure_;
  }

 private:
  struct Release {
    void operator()(void* context) const { seccomp_release(context); }
  };

  void keep(int result) {
    if (failure_ == 0) failure_ = result;
  }

  std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release> context_;
  int failure_ = 0;
};

scmp_arg_cmp equals(unsigned argument, uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}

scmp_arg_cmp has_bits(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void allow_reading(Filter& filter) {
  constexpr uint64_t kWriting = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
  filter.add(SCMP_ACT_ALLOW, "open", {has_bits(1, kWriting, O_RDONLY)});
  filter.add(SCMP_ACT_ALLOW, "openat", {has_bits(2, kWriting, O_RDONLY)});
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_GET_SEALS})
    filter.add(SCMP_ACT_ALLOW, "fcntl", {equals(1, static_cast<uint64_t>(command))});
  // Whether a descriptor is a terminal; other requests could put input into it.
  filter.add(SCMP_ACT_ALLOW, "ioctl", {equals(1, TCGETS)});
  filter.add(SCMP_ACT_ALLOW, "ioctl", {equals(1, kTcgets2)});
}

// Allows duplicating descriptors and changing their position, except for standard input, output and
// error: the first may be a file that other processes read, too, and the others are pipes to the
// parent.
void allow_changes_of_other_files(Filter& filter) {
  // The first rule is for the number 3. Greater numbers have a bit of value 4 or more set, for each
  // of which there is one rule.
  std::vector<scmp_arg_cmp> others = {has_bits(0, kNumber, STDERR_FILENO + 1)};
  for (uint64_t bit = 4; bit < kNumber; bit <<= 1) others.push_back(has_bits(0, bit, bit));
  for (const scmp_arg_cmp& other : others) {
    for (const char* call : {"dup", "dup2", "dup3", "lseek"})
      filter.add(SCMP_ACT_ALLOW, call, {other});
    for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC})
      filter.add(SCMP_ACT_ALLOW, "fcntl", {other, equals(1, static_cast<uint64_t>(command))});
  }
}

// Allows mapping private memory, shared anonymous memory and read-only files. Executable memory is
// allowed, since oneDNN generates machine code when a model is loaded.
void allow_mappings(Filter& filter) {
  constexpr uint64_t kType = MAP_SHARED | MAP_PRIVATE;
  filter.add(SCMP_ACT_ALLOW, "mmap", {has_bits(3, kType, MAP_PRIVATE)});
  filter.add(SCMP_ACT_ALLOW, "mmap",
             {has_bits(3, kType | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)});
  filter.add(SCMP_ACT_ALLOW, "mmap", {has_bits(2, PROT_WRITE, 0), has_bits(3, kType, MAP_SHARED)});
}

// Allows setting the affinity of the calling thread (number 0) only: another number may be that of
// another process.
void allow_own_affinity(Filter& filter) {
  filter.add(SCMP_ACT_ALLOW, "sched_setaffinity", {has_bits(0, kNumber, 0)});
  for (uint64_t bit = 1; bit < kNumber; bit <<= 1)
    filter.add(SCMP_ACT_ERRNO(EPERM), "sched_setaffinity", {has_bits(0, bit, bit)});
}

void allow_threads(Filter& filter) {
  // The flags with which the C library makes a thread. Others would make a process, or a thread
  // that does not share the folders, network or users of its process.
  constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                               CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                               CLONE_CHILD_CLEARTID;
  filter.add(SCMP_ACT_ALLOW, "clone", {has_bits(0, kNumber & ~uint64_t{CLONE_DETACHED}, kThread)});
  filter.add(SCMP_ACT_ALLOW, "tgkill", {equals(0, static_cast<uint64_t>(::getpid()))});
  filter.add(SCMP_ACT_ALLOW, "prctl", {equals(0, PR_SET_NAME)});
  filter.add(SCMP_ACT_ALLOW, "prctl", {equals(0, PR_GET_NAME)});
#ifdef __aarch64__
  filter.add(SCMP_ACT_ALLOW, "prctl", {equals(0, PR_SVE_GET_VL)});  // oneDNN asks on start
#endif
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {equals(0, kPrSetVma)});
  // Limits of this process can be read but not set.
  filter.add(SCMP_ACT_ALLOW, "prlimit64", {has_bits(0, kNumber, 0), equals(2, 0)});
  filter.add(SCMP_ACT_ALLOW, "getrlimit");
  allow_own_affinity(filter);
}

void add_missing_calls(Filter& filter) {
  for (const char* call : kMissing) filter.add(SCMP_ACT_ERRNO(ENOSYS), call);
  for (int number = kFirstUnknown; number < kEndOfUnknown; ++number)
    filter.add(SCMP_ACT_ERRNO(ENOSYS), number);
}

}  // namespace

Status restrict_process() {
  Filter filter;
  for (const char* call : kAllowed) filter.add(SCMP_ACT_ALLOW, call);
  add_missing_calls(filter);
  allow_reading(filter);
  allow_changes_of_other_files(filter);
  allow_mappings(filter);
  allow_threads(filter);
  const int failure = filter.load();
  if (failure == 0) return {};
  return unsupported(
      fmt::format("this system refuses a filter of system calls: {}", strerrordesc_np(-failure)));
}

std::string system_call_name(int number) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number));
  return name ? name.get() : std::to_string(number);
}

}  // namespace millrace::cli
