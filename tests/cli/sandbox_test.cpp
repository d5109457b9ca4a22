// Commands in a sandbox, and within limits.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/supervision/process_rights.h"
#include "cli/supervision/sandbox_filter.h"
#include "io/file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/landlock.h"
#include "tests/support/address_checks.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;

constexpr int kNotRestricted = 99;
constexpr long kUnknownCall = 500;
constexpr unsigned long kThreadOfGlibc = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                         CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                         CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

// Runs `act` in a restricted process. Returns the exit code, or 128 + the signal that ended it.
int end_of_restricted(void (*act)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!cli::restrict_process().ok()) ::_exit(kNotRestricted);
    act();
    ::_exit(0);
  }
  int state = 0;
  EXPECT_EQ(::waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

struct Act {
  const char* name;
  void (*act)();
};

TEST(Sandbox, RefusesWhatComputingDoesNotNeed) {
  static char* const no_arguments[] = {nullptr};
  const Act refused[] = {
      {"open to write", [] { ::open("/dev/null", O_WRONLY); }},
      {"open to read and write", [] { ::open("/dev/null", O_RDWR); }},
      {"make a file", [] { ::open("made", O_RDONLY | O_CREAT, 0600); }},
      {"empty a file", [] { ::open("/dev/null", O_RDONLY | O_TRUNC); }},
      {"a socket", [] { ::socket(AF_INET, SOCK_STREAM, 0); }},
      {"a local socket", [] { ::socket(AF_UNIX, SOCK_DGRAM, 0); }},
      {"another program", [] { ::execve("/bin/true", no_arguments, no_arguments); }},
      {"another process", [] { ::fork(); }},
      {"trace", [] { ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
      {"signal the parent", [] { ::kill(::getppid(), 0); }},
      {"remove", [] { ::unlink("none"); }},
      {"rename", [] { ::rename("none", "other"); }},
      {"make a folder", [] { ::mkdir("none", 0700); }},
      {"cut off the output", [] { ::syscall(SYS_ftruncate, STDOUT_FILENO, 0); }},
      {"cut it off by a longer number",
       [] { ::syscall(SYS_ftruncate, (uint64_t{1} << 32) + STDOUT_FILENO, 0); }},
      {"go back in the output", [] { ::lseek(STDERR_FILENO, 0, SEEK_SET); }},
      {"copy its descriptor", [] { ::dup(STDOUT_FILENO); }},
      {"copy it by another call", [] { ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0); }},
      {"change rights", [] { ::chmod("none", 0700); }},
      {"System V shared memory", [] { ::shmget(IPC_PRIVATE, 1, IPC_CREAT); }},
      {"a second way into the kernel", [] { ::syscall(SYS_io_uring_setup, 1, nullptr); }},
      {"signal a thread of the parent", [] { ::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0); }},
      {"a thread with folders of its own",
       [] { ::syscall(SYS_clone, kThreadOfGlibc | CLONE_NEWNS, nullptr, nullptr, nullptr, 0); }},
      {"limits of the parent",
       [] {
         rlimit limit{};
         ::prlimit(::getppid(), RLIMIT_CPU, nullptr, &limit);
       }},
      {"outlive the parent", [] { ::prctl(PR_SET_PDEATHSIG, 0); }},
      {"type into a terminal", [] { ::ioctl(STDIN_FILENO, TIOCSTI, "x"); }},
      {"map a file to write to it",
       [] { ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, STDIN_FILENO, 0); }},
      {"raise a limit", [] {
         const rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
         ::setrlimit(RLIMIT_CPU, &limit);
       }}};
  for (const Act& act : refused) EXPECT_EQ(end_of_restricted(act.act), 128 + SIGSYS) << act.name;
}

TEST(Sandbox, LetsAProcessReadComputeAndPrint) {
  EXPECT_EQ(end_of_restricted([] {
              const int file = ::open("/proc/self/maps", O_RDONLY);
              char byte = 0;
              if (file < 0 || ::read(file, &byte, 1) != 1) ::_exit(1);
              std::thread([] { std::fprintf(stderr, "%s", ""); }).join();
            }),
            0);
}

// Libraries try these calls and go on without them, so they fail instead of ending the process.
TEST(Sandbox, RefusesWithAnErrorWhatLibrariesTry) {
  EXPECT_EQ(end_of_restricted([] {
              cpu_set_t cores;
              CPU_ZERO(&cores);
              CPU_SET(0, &cores);
              const bool refused =
                  ::memfd_create("hidden", 0) < 0 && errno == ENOSYS &&
                  ::sched_setaffinity(::getppid(), sizeof cores, &cores) < 0 && errno == EPERM &&
                  ::syscall(SYS_openat2, 0, "none", nullptr, 0) < 0 && errno == ENOSYS &&
                  ::syscall(kUnknownCall) < 0 && errno == ENOSYS;
              if (!refused || ::sched_setaffinity(0, sizeof cores, &cores) != 0) ::_exit(1);
            }),
            0);
}

// The process may copy descriptors of files that it opens itself, and seek in them.
TEST(Sandbox, LetsAProcessCopyItsOwnDescriptors) {
  EXPECT_EQ(end_of_restricted([] {
              for (int i = 0; i < 40; ++i) {
                const int own = ::open("/proc/self/maps", O_RDONLY);
                const int copies[] = {::dup(own), ::fcntl(own, F_DUPFD_CLOEXEC, 0)};
                for (const int fd : {own, copies[0], copies[1]})
                  if (fd < 3 || ::lseek(fd, 0, SEEK_SET) != 0) ::_exit(1);
              }
            }),
            0);
}

// The loss of rights is a second line of defence, for calls that the filter lets pass by mistake.
TEST(Sandbox, LeavesFewRightsToRoot) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!cli::restrict_rights().ok()) ::_exit(kNotRestricted);
    const bool written = ::open("/dev/null", O_WRONLY) >= 0 && has_landlock();
    const bool root = ::prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0;
    ::_exit(written || root ? 1 : 0);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

TEST(Sandbox, NamesSystemCalls) {
  EXPECT_EQ(cli::system_call_name(SYS_socket), "socket");
  EXPECT_EQ(cli::system_call_name(-1234), "-1234");
}

class SandboxTest : public CliTest {
 protected:
  SandboxTest() {
    std::vector<float> picture(32 * 32);
    for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i % 97) / 97;
    EXPECT_TRUE(io::write_file(input_, std::as_bytes(std::span(picture))).ok());
  }

  ProgramResult run_with(const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments = {"run", model_, "--input", input_};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return millrace(arguments);
  }

  const std::string input_ = file("picture.bin");
  const std::string model_ = compiled("glyphs.rai");
};

TEST_F(SandboxTest, RunsAsWithoutIt) {
  const ProgramResult plain = run_with({"--output-dir", "out", "--top", "3"});
  const auto expected = io::read_file(file("out/scores.bin"));
  ASSERT_TRUE(expected.ok());
  for (const std::vector<std::string>& limits : {std::vector<std::string>{"--sandbox"},
                                                 {"--time-limit", "300s"},
                                                 {"--sandbox", "--time-limit", "300s"}}) {
    ASSERT_EQ(std::remove(file("out/scores.bin").c_str()), 0);
    std::vector<std::string> flags = {"--output-dir", "out", "--top", "3"};
    flags.insert(flags.end(), limits.begin(), limits.end());
    const ProgramResult limited = run_with(flags);
    EXPECT_EQ(limited.exit_code, 0) << limited.err;
    EXPECT_EQ(limited.out, plain.out);
    const auto bytes = io::read_file(file("out/scores.bin"));
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(*bytes, *expected);
  }
}

// Columns belong to programs of the board; the tool takes none, in the sandbox or out of it.
TEST_F(SandboxTest, NeedsNoTableOfColumns) {
  const char* const set = std::getenv("MILLRACE_COLUMN_TABLE");
  const std::string before = set == nullptr ? "" : set;
  ::setenv("MILLRACE_COLUMN_TABLE", file("columns").c_str(), 1);
  const ProgramResult plain = run_with({"--top", "3"});
  const ProgramResult limited = run_with({"--sandbox", "--top", "3"});
  ::setenv("MILLRACE_COLUMN_TABLE", before.c_str(), 1);
  EXPECT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_EQ(limited.out, plain.out);
  EXPECT_FALSE(std::filesystem::exists(file("columns")));
}

TEST_F(SandboxTest, KeepsNoPackedWeights) {
  const std::string folder = file("packed");
  std::filesystem::create_directory(folder);
  ::setenv("MILLRACE_PACKED_WEIGHTS", folder.c_str(), 1);
  const ProgramResult limited = run_with({"--sandbox", "--top", "3"});
  ::unsetenv("MILLRACE_PACKED_WEIGHTS");
  EXPECT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SandboxTest, ReportsTheFailuresOfTheChildAsItsOwn) {
  expect_failure(millrace({"run", "none.rai", "--sandbox", "--input", input_}), "none.rai");
  expect_failure(run_with({"--sandbox", "--labels", "none", "--top", "1"}), "none");
  EXPECT_EQ(run_with({"--sandbox", "--device", "none"}).exit_code, 1);
}

TEST_F(SandboxTest, SaysWhichCallEndedTheChild) {
  ::setenv("MILLRACE_PLUGIN_DIR", MILLRACE_HOSTILE_PLUGINS, 1);
  const ProgramResult call = run_with({"--sandbox", "--device", "socket"});
  const ProgramResult crash = run_with({"--sandbox", "--device", "crash"});
  const ProgramResult crash_alone = run_with({"--time-limit", "300s", "--device", "crash"});
  ::unsetenv("MILLRACE_PLUGIN_DIR");
  expect_failure(call, "the system call socket is forbidden");
  expect_failure(crash, "the signal ABRT");
  expect_failure(crash_alone, "the signal ABRT");
}

TEST_F(SandboxTest, EndsAtItsTimeLimit) {
  for (const char* sandbox : {"--json", "--sandbox"})
    expect_failure(millrace({"bench", model_, "-n", "100000000", "--time-limit", "100ms", sandbox}),
                   "the time limit of 0.1 s has passed");
}

// The limit applies to the memory that the device has planned, so the test needs the CPU device.
TEST_F(SandboxTest, RefusesModelsBeyondTheMemoryLimit) {
  for (const char* sandbox : {"--view=cpu", "--sandbox"}) {
    // AddressSanitizer needs more address space than the sandbox leaves.
    if (kChecksAddresses && sandbox == std::string_view("--sandbox")) continue;
    expect_failure(run_with({"--memory-limit", "100K", sandbox}), "the memory limit is 102400");
    EXPECT_EQ(run_with({"--memory-limit", "1GiB", sandbox}).exit_code, 0);
  }
  expect_failure(millrace({"bench", model_, "-n", "1", "--memory-limit", "100K"}),
                 "the memory limit is 102400");
}

TEST_F(SandboxTest, RefusesLimitsThatMakeNoSense) {
  expect_wrong_command_line(run_with({"--memory-limit", "much"}), "--memory-limit");
  expect_wrong_command_line(run_with({"--time-limit", "soon"}), "--time-limit: \"soon\"");
  expect_wrong_command_line(run_with({"--time-limit", "0s"}), "--time-limit: \"0s\"");
}

}  // namespace
}  // namespace millrace::test
