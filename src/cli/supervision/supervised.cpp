// The child is a fork of this process. In a sandbox it first restricts itself (descriptors,
// resource limits, rights, filter of system calls), and only then does the work. The parent reads
// the channel (child_channel.h) until the child ends, and always reaps it.
#include "cli/supervision/supervised.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "cli/supervision/child_channel.h"
#include "cli/supervision/child_descriptors.h"
#include "cli/supervision/child_text.h"
#include "cli/supervision/process_rights.h"
#include "cli/supervision/sandbox_filter.h"

namespace millrace::cli {
namespace {

// The number of the forbidden system call by which the child ended, or -1. It is in memory that
// both processes share, and written by a signal handler of the child.
class ForbiddenCall {
 public:
  ForbiddenCall()
      : number_(static_cast<int*>(::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (valid()) *number_ = -1;
  }
  ForbiddenCall(const ForbiddenCall&) = delete;
  ForbiddenCall& operator=(const ForbiddenCall&) = delete;
  ~ForbiddenCall() {
    if (valid()) ::munmap(number_, sizeof(int));
  }

  bool valid() const noexcept { return number_ != MAP_FAILED; }
  int number() const noexcept { return *const_cast<const volatile int*>(number_); }

  // Installs the handler of SIGSYS, which records the call and ends the process.
  void watch() const {
    shared_ = number_;
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      *const_cast<volatile int*>(shared_) = info->si_syscall;
      ::_exit(1);
    };
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSYS, &action, nullptr);
  }

 private:
  static inline int* shared_ = nullptr;
  int* number_;
};

void set_limit(__rlimit_resource resource, uint64_t value, uint64_t hard) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_max = std::min<rlim_t>(hard, limit.rlim_max);
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  ::setrlimit(resource, &limit);
}

// Returns the address space in bytes that a thread reserves for its stack and for the heap (arena)
// that the C library keeps for it.
uint64_t address_space_of_a_thread() {
  constexpr uint64_t kHeap = uint64_t{128} << 20, kUnlimitedStack = uint64_t{8} << 20;
  rlimit stack{};
  ::getrlimit(RLIMIT_STACK, &stack);
  return kHeap + (stack.rlim_cur == RLIM_INFINITY ? kUnlimitedStack : stack.rlim_cur);
}

// Sets the resource limits of the child: address space, processor time, descriptors, no files, no
// core dump. The memory limit is checked against what a model declares when it is loaded; here it
// is a second line of defence. Code, stacks and heaps of threads also take address space, most of
// which is never used, so room for these is added to it.
void limit_resources(const Supervision& supervision) {
  constexpr uint64_t kAddressSpaceOfAProgram = uint64_t{2} << 30;
  const uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t of_program = kAddressSpaceOfAProgram + cores * address_space_of_a_thread();
  if (supervision.memory_limit != 0 && supervision.memory_limit <= UINT64_MAX - of_program) {
    const uint64_t bytes = supervision.memory_limit + of_program;
    set_limit(RLIMIT_AS, bytes, bytes);
  }
  if (supervision.time_limit.count() != 0) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(supervision.time_limit).count();
    const uint64_t all = static_cast<uint64_t>(seconds + 1) * cores;
    set_limit(RLIMIT_CPU, all, all + 1);  // SIGXCPU comes first, then SIGKILL
  }
  // Pipes hold memory that does not count in an address space.
  constexpr uint64_t kDescriptors = 256;
  set_limit(RLIMIT_NOFILE, kDescriptors, kDescriptors);
  set_limit(RLIMIT_FSIZE, 0, 0);
  set_limit(RLIMIT_CORE, 0, 0);
}

Status flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return {StatusCode::kIoError, "cannot write to standard output"};
}

Status work_in_child(int channel, const SupervisedChild::Work& work) {
  const auto settle = [channel](const std::vector<std::string>& names) {
    return send_names(channel, names);
  };
  // Text that was printed before a file must come before what the parent prints about that file.
  const auto give = [channel](const std::string& name, std::span<const std::byte> bytes) {
    MILLRACE_RETURN_IF_ERROR(flush_output());
    return send_output(channel, name, bytes);
  };
  try {
    MILLRACE_RETURN_IF_ERROR(work(OutputSink(settle, give)));
    return flush_output();
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

// Restricts the child. The order matters: each step forbids what earlier steps need.
Status enter_sandbox(const Supervision& supervision, const ForbiddenCall& call) {
  // A sandboxed process can write no files: neither packed weights nor a timeline nor findings. Its
  // log, which may have been opened before, goes to standard error.
  if (std::getenv("MILLRACE_LOG_FILE") != nullptr)
    set_log_sink(log_to_stderr, log_level_of_environment(LogLevel::kInfo));
  for (const char* variable :
       {"MILLRACE_PACKED_WEIGHTS", "MILLRACE_TRACE", "MILLRACE_FLIGHT_RECORDER", "MILLRACE_CHECK",
        "MILLRACE_TOP", "MILLRACE_LOG_FILE"})
    ::unsetenv(variable);
  limit_resources(supervision);
  call.watch();
  MILLRACE_RETURN_IF_ERROR(restrict_rights());
  return restrict_process();
}

[[noreturn]] void be_child(const Supervision& supervision, pid_t parent, int channel,
                           const ChildText* text, const ForbiddenCall& call,
                           const SupervisedChild::Work& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before prctl() took effect
  Status status;
  if (text != nullptr) {
    channel = keep_only(channel, text->output.writing(), text->error.writing());
    if (channel < 0) ::_exit(1);
    status = enter_sandbox(supervision, call);
  }
  if (status.ok()) status = work_in_child(channel, work);
  // A failure means that the parent is gone, so there is nobody to tell.
  static_cast<void>(send_status(channel, status));
  ::_exit(0);
}

Status time_is_up(const Supervision& supervision) {
  return {StatusCode::kDeadlineExceeded,
          fmt::format("the time limit of {} s has passed",
                      std::chrono::duration<double>(supervision.time_limit).count())};
}

// Describes the end of a child that sent no status.
Status describe_end(const Supervision& supervision, int state, const ForbiddenCall& call) {
  if (call.number() >= 0)
    return unsupported(
        fmt::format("the system call {} is forbidden in the sandbox: the model, or a "
                    "library on this machine, tried to use it",
                    system_call_name(call.number())));
  if (WIFEXITED(state)) return internal_error("the child process ended without a result");
  const int signal = WTERMSIG(state);
  if (signal == SIGXCPU) return time_is_up(supervision);
  if (signal == SIGSYS) return unsupported("a system call is forbidden in the sandbox");
  return {StatusCode::kDeviceFailed,
          fmt::format("the child process was ended by the signal {} ({})", sigabbrev_np(signal),
                      sigdescr_np(signal))};
}

// Kills the child, if it still runs, and returns its wait status. A child may have closed its
// channel without ending.
int reap(pid_t child) {
  int state = 0;
  ::kill(child, SIGKILL);
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  return state;
}

}  // namespace

struct SupervisedChild::State {
  Supervision supervision;
  ReceiveLimits limits;
  ForbiddenCall call;
  UniqueFd channel;
  std::optional<ChildText> text;  // present in a sandbox
  pid_t child = -1;
};

SupervisedChild::SupervisedChild(std::unique_ptr<State> state) : state_(std::move(state)) {}
SupervisedChild::SupervisedChild(SupervisedChild&&) noexcept = default;
SupervisedChild& SupervisedChild::operator=(SupervisedChild&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
SupervisedChild::~SupervisedChild() {
  if (state_ && state_->child > 0) reap(state_->child);
}

Result<SupervisedChild> SupervisedChild::start(const Supervision& supervision, const Work& work) {
  auto state = std::make_unique<State>();
  state->supervision = supervision;
  if (supervision.time_limit.count() != 0)
    state->limits.deadline_ns = now_ns() + supervision.time_limit.count();
  if (supervision.memory_limit != 0) state->limits.most_bytes = supervision.memory_limit;
  if (!state->call.valid())
    return Status(StatusCode::kOutOfMemory, "cannot map memory to share with a child process");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return io_error("cannot make a pipe", errno);
  state->channel = UniqueFd(ends[0]);
  const UniqueFd writing(ends[1]);
  if (supervision.sandbox) {
    MILLRACE_ASSIGN_OR_RETURN(state->text, ChildText::open());
  }
  std::fflush(stdout);
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid() does not return how a child ended
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("cannot make a child process: {}", strerrordesc_np(errno)));
  if (child == 0) {
    state->channel = UniqueFd();
    const ChildText* const text = state->text ? &*state->text : nullptr;
    be_child(supervision, parent, writing.get(), text, state->call, work);
  }
  if (state->text) state->text->close_writing();
  state->child = child;
  return SupervisedChild(std::move(state));
}

int SupervisedChild::channel() const {
  return state_->channel.get();
}

int64_t SupervisedChild::deadline_ns() const {
  return state_->limits.deadline_ns;
}

Status SupervisedChild::finish(const OutputSink& outputs) {
  ChildText* const text = state_->text ? &*state_->text : nullptr;
  const Result<std::optional<Status>> received =
      receive(state_->channel.get(), outputs, state_->limits, text);
  const int end = reap(std::exchange(state_->child, -1));
  const Status printed = text != nullptr ? text->finish() : Status();
  if (!received.ok())
    return received.status().code() == StatusCode::kDeadlineExceeded
               ? time_is_up(state_->supervision)
               : received.status();
  if (!received->has_value()) return describe_end(state_->supervision, end, state_->call);
  return (*received)->ok() ? printed : **received;
}

Status run_supervised(const Supervision& supervision, const SupervisedChild::Work& work,
                      const OutputSink& outputs) {
  MILLRACE_ASSIGN_OR_RETURN(SupervisedChild child, SupervisedChild::start(supervision, work));
  return child.finish(outputs);
}

}  // namespace millrace::cli
