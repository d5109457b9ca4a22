// Lets every call for a resource fail once: runs a cycle (cycle.h) of one face once for each call
// number, in a process of its own, and behind it, with the resource back, a second cycle that must
// succeed. Prints one line per kind of outcome; exit code 1 when a process was aborted, crashed or
// hung, when a job was lost, or when the second cycle failed.
//
// usage: LD_PRELOAD=libmillrace_failing.so failing_resources_sweep FACE RESOURCE
//          [--device NAME] [--from N] [--to N] [--step N] [--most N] [--every N] [--verbose]
// With --step N, every N-th number is taken; with --most N, at most about N numbers, evenly spaced.
// With --every N, every N-th call after the one of that number fails, too, until the cycle ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // not meant for C++ in Debian 12
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "tests/failing_resources/cycle.h"
#include "tests/failing_resources/failing_control.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

struct Options {
  std::string face;
  std::string device = "cpu";
  uint32_t resource = 0;
  uint64_t from = 1, to = UINT64_MAX, step = 1, most = UINT64_MAX, every = 0;
  bool verbose = false;
};

// The finding of a child, in memory that it shares with its parent.
struct Finding {
  bool reached;    // the cycle made the call that was to fail
  uint64_t calls;  // that were counted
  CycleResult first, second;
};

// The number of cycles in a row with fewer calls that end a sweep.
constexpr uint64_t kNotReachedAtTheEnd = 20;

using Cycle = CycleResult (*)(const CycleInput&);

Cycle cycle_of(std::string_view face) {
  if (face == "native") return run_native_cycle;
  if (face == "vart") return run_vart_cycle;
  if (face == "nrt") return run_nrt_cycle;
  return nullptr;
}

// Units of few requests, which are made of few allocations.
void set_up_environment(const CycleInput& input) {
  setenv("MILLRACE_DEVICE", input.faulty_device().c_str(), 1);
  setenv("MILLRACE_NRT_CORES", "2", 1);
  setenv("MILLRACE_NRT_COMPUTE_DEPTH", "2", 1);
  setenv("MILLRACE_NRT_TRANSFER_DEPTH", "2", 1);
}

CycleResult run_contained(Cycle cycle, const CycleInput& input) {
  try {
    return cycle(input);
  } catch (const std::bad_alloc&) {
    return {Outcome::kRefused, "memory of the program's own"};
  }
}

[[noreturn]] void run_child(const Options& options, const FailingControl& library,
                            const CycleInput& input, uint64_t nth, Finding& finding) {
  if (!options.verbose) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
  const Cycle cycle = cycle_of(options.face);
  library.start(options.resource, nth, options.every);
  finding.first = run_contained(cycle, input);
  finding.calls = library.stop();
  finding.reached = library.failed() != 0;
  finding.second = run_contained(cycle, input);
  _exit(0);
}

// -1 when it had to be killed.
int await_child(pid_t child) {
  constexpr int kPatienceMs = 60'000;
  const int ended = pidfd_open(child, 0);
  pollfd event{ended, POLLIN, 0};
  const bool in_time = poll(&event, 1, kPatienceMs) == 1;
  close(ended);
  if (!in_time) kill(child, SIGKILL);
  int state = 0;
  waitpid(child, &state, 0);
  return in_time ? state : -1;
}

std::string describe(int state, const Finding& finding, bool& good) {
  good = false;
  if (state == -1) return "hang";
  if (WIFSIGNALED(state)) return fmt::format("killed by {}", strsignal(WTERMSIG(state)));
  if (WEXITSTATUS(state) != 0) return fmt::format("exit code {}", WEXITSTATUS(state));
  if (finding.first.outcome == Outcome::kBroken)
    return fmt::format("broken promise: {}", finding.first.what);
  if (finding.second.outcome != Outcome::kSucceeded)
    return fmt::format("not healthy afterwards: {} (first: {})", finding.second.what,
                       finding.first.what);
  good = true;
  return finding.first.outcome == Outcome::kSucceeded ? "succeeded without it" : "refused";
}

struct Line {
  size_t count = 0;
  bool good = false;
  std::vector<uint64_t> numbers;
};

int print(const Options& options, const std::map<std::string, Line>& lines) {
  size_t all = 0, bad = 0;
  for (const auto& [text, line] : lines) {
    all += line.count;
    if (!line.good) bad += line.count;
  }
  fmt::print("{} on {}, {}: {} failures injected, {} not contained\n", options.face, options.device,
             kResourceNames[options.resource], all, bad);
  for (const auto& [text, line] : lines) {
    fmt::print("  {:5} {}", line.count, text);
    if (!line.good) fmt::print(", at {}", fmt::join(line.numbers, " "));
    fmt::print("\n");
  }
  return bad == 0 ? 0 : 1;
}

int sweep(const Options& options) {
  const FailingControl library;
  if (!library.is_loaded()) {
    fmt::print(stderr, "libmillrace_failing.so is not loaded: set LD_PRELOAD\n");
    return 2;
  }
  const TemporaryDirectory directory;
  const CycleInput input{directory.file("tiny.rai"), options.device};
  if (!write_tiny_model(input.archive).ok()) return 2;
  set_up_environment(input);
  auto* const finding = static_cast<Finding*>(
      mmap(nullptr, sizeof(Finding), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::map<std::string, Line> lines;
  // Returns how the process ends in which the call of that number fails.
  const auto run = [&](uint64_t nth) {
    *finding = {};
    finding->reached = true;  // also when it does not live to say so
    const pid_t child = fork();
    if (child == 0) run_child(options, library, input, nth, *finding);
    return await_child(child);
  };
  uint64_t step = options.step;
  if (options.most != UINT64_MAX) {
    if (run(UINT64_MAX) != 0 || finding->first.outcome != Outcome::kSucceeded) {
      fmt::print(stderr, "the cycle fails even if all calls succeed: {}\n", finding->first.what);
      return 1;
    }
    step = std::max(step, (finding->calls + options.most - 1) / options.most);
  }
  uint64_t not_reached = 0;
  for (uint64_t nth = options.from; nth <= options.to; nth += step) {
    const int state = run(nth);
    if (!finding->reached) {
      // The number of calls of a cycle depends on what its threads happen to do.
      if (++not_reached == kNotReachedAtTheEnd) break;
      continue;
    }
    bool good = false;
    const std::string text = describe(state, *finding, good);
    Line& line = lines[text];
    ++line.count;
    line.good = good;
    if (line.numbers.size() < 400) line.numbers.push_back(nth);
    if (options.verbose) fmt::print("{} {}: {}\n", nth, text, finding->first.what);
  }
  return print(options, lines);
}

bool parse(int count, char** words, Options& options) {
  if (count < 3) return false;
  options.face = words[1];
  const std::string_view resource = words[2];
  while (options.resource < kResourceCount && resource != kResourceNames[options.resource])
    ++options.resource;
  for (int i = 3; i < count; ++i) {
    const std::string_view name = words[i];
    if (name == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (name == "--device" && i + 1 < count) {
      options.device = words[++i];
      continue;
    }
    uint64_t* const number = name == "--from"    ? &options.from
                             : name == "--to"    ? &options.to
                             : name == "--step"  ? &options.step
                             : name == "--most"  ? &options.most
                             : name == "--every" ? &options.every
                                                 : nullptr;
    if (number == nullptr || ++i == count) return false;
    *number = std::strtoull(words[i], nullptr, 10);
  }
  return options.resource != kResourceCount && options.most != 0 &&
         cycle_of(options.face) != nullptr;
}

}  // namespace
}  // namespace millrace::test

int main(int count, char** words) {
  millrace::test::Options options;
  if (!millrace::test::parse(count, words, options)) {
    fmt::print(stderr,
               "usage: LD_PRELOAD=libmillrace_failing.so {} native|vart|nrt "
               "memory|mapping|file|thread|event [--device NAME] [--from N] [--to N] [--step N] "
               "[--most N] [--every N] [--verbose]\n",
               words[0]);
    return 2;
  }
  return millrace::test::sweep(options);
}
