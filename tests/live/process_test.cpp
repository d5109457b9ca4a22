// A program shows its units, and another process reads what it shows.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <thread>
#include <vector>

#include "live/reader.h"
#include "memory/buffer.h"
#include "tests/live/shown_program.h"

namespace millrace::live {
namespace {

using std::chrono::milliseconds;
using test::NullSession;
using test::ShownProgram;

// Longer than any test takes, even on a loaded machine.
constexpr milliseconds kPatience{60'000};

const ShownProgram::Variables kShown = {{"MILLRACE_TOP", "1"}};

ShownProgram::Variables with_faults(const char* plan) {
  ShownProgram::Variables variables = kShown;
  variables["MILLRACE_FAULTS"] = plan;
  return variables;
}

// The sum of a number over all units of a process.
template <class Number>
uint64_t sum(const ShownProcess& process, Number number) {
  uint64_t all = 0;
  for (const ShownUnit& unit : process.units) all += unit.*number;
  return all;
}

TEST(Process, ShowsTheMemoryOfItsBuffers) {
  constexpr size_t kShared = 1 << 20, kHeap = 1 << 16;
  const ShownProgram none(kShown, [](NullSession& session) { session.submit_and_wait(1); });
  const ShownProgram some(kShown, [](NullSession& session) {
    session.submit_and_wait(1);
    static std::vector<memory::Buffer> kept;  // as long as the program stays
    kept.push_back(memory::Buffer::allocate(kShared).value());
    kept.push_back(memory::Buffer::allocate(kHeap, memory::BufferKind::kHeap).value());
    static std::byte own[kShared];
    kept.push_back(memory::Buffer::wrap(own, sizeof own).value());
  });
  const uint64_t before = ask_process(none.pid(), kPatience).value().buffer_bytes;
  EXPECT_EQ(ask_process(some.pid(), kPatience).value().buffer_bytes, before + kShared + kHeap);
}

TEST(Process, ShowsItsJobsAndTheirOutcomes) {
  const ShownProgram program(with_faults("fail=3"),
                             [](NullSession& session) { session.submit_and_wait(10); });
  const Result<ShownProcess> process = ask_process(program.pid(), kPatience);
  ASSERT_TRUE(process.ok()) << process.status().message();
  EXPECT_TRUE(process->has_answered);
  EXPECT_EQ(process->pid, program.pid());
  EXPECT_GT(process->resident_bytes, 0u);
  EXPECT_EQ(sum(*process, &ShownUnit::submitted), 10u);
  EXPECT_EQ(sum(*process, &ShownUnit::succeeded), 9u);
  EXPECT_EQ(sum(*process, &ShownUnit::failed), 1u);
  EXPECT_EQ(sum(*process, &ShownUnit::in_flight), 0u);
  ASSERT_EQ(process->units.size(), 2u) << "max_concurrent_runs is 2, and each unit has one place";
  EXPECT_EQ(process->units[0].name, "tiny/0");
  EXPECT_EQ(process->units[1].name, "tiny/1");
  for (const ShownUnit& unit : process->units) {
    EXPECT_EQ(unit.lanes, 2u);
    EXPECT_EQ(unit.depth, 1u);
    EXPECT_FALSE(unit.degraded);
  }
  EXPECT_NE(process->units[0].made, process->units[1].made);
}

TEST(Process, ShowsTheTimesOfItsFirstJobs) {
  const ShownProgram program(with_faults("slow=20ms"),
                             [](NullSession& session) { session.submit_and_wait(1); });
  const Result<ShownProcess> process = ask_process(program.pid(), kPatience);
  ASSERT_TRUE(process.ok()) << process.status().message();
  size_t measured = 0;
  for (const ShownUnit& unit : process->units) {
    if (unit.mean_run_ns == 0) continue;
    EXPECT_GE(unit.mean_run_ns, 20'000'000);
    for (size_t i = 0; i < unit.run_times.size(); ++i) {
      measured += unit.run_times[i];
      if (unit.run_times[i] != 0) {
        EXPECT_GE(queue::RunTimes::end_of(i), 20'000'000);
      }
    }
  }
  EXPECT_EQ(measured, 1u);
}

TEST(Process, ShowsAJobThatHangsAsInFlight) {
  const ShownProgram program(with_faults("hang=1"), [](NullSession& session) {
    static_cast<void>(session.session->submit(session.memory.bindings()));
  });
  const Result<ShownProcess> process = ask_process(program.pid(), kPatience);
  ASSERT_TRUE(process.ok()) << process.status().message();
  EXPECT_EQ(sum(*process, &ShownUnit::in_flight), 1u);
}

TEST(Process, AnswersAnewEachTime) {
  ShownProgram program(kShown, [](NullSession& session) { session.submit_and_wait(1); });
  int64_t last_ns = 0;
  for (int i = 0; i < 5; ++i) {
    const Result<ShownProcess> process = ask_process(program.pid(), kPatience);
    ASSERT_TRUE(process.ok());
    EXPECT_GT(process->time_ns, last_ns);
    last_ns = process->time_ns;
  }
}

TEST(Process, ShowsNoUnitsThatAreGone) {
  const ShownProgram program(kShown, [](NullSession& session) {
    NullSession other;
    other.submit_and_wait(1);
    session.submit_and_wait(1);
  });
  const Result<ShownProcess> process = ask_process(program.pid(), kPatience);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->units.size(), 2u);
}

TEST(Process, ShowsNothingUnlessAskedTo) {
  const ShownProgram program({}, [](NullSession& session) { session.submit_and_wait(1); });
  const Result<ShownProcess> process = ask_process(program.pid(), milliseconds(0));
  EXPECT_EQ(process.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(process.status().message(), testing::HasSubstr("MILLRACE_TOP=1"));
}

bool is_among_all(pid_t pid) {
  for (const ShownProcess& process : ask_processes(milliseconds(1000)))
    if (process.pid == pid) return true;
  return false;
}

TEST(Process, IsAmongAllUntilItIsDead) {
  ShownProgram program(kShown, [](NullSession& session) { session.submit_and_wait(1); });
  const pid_t pid = program.pid();
  EXPECT_TRUE(is_among_all(pid));
  program.signal(SIGKILL);
  EXPECT_EQ(program.end(), 128 + SIGKILL);
  EXPECT_FALSE(is_among_all(pid));
  EXPECT_EQ(ask_process(pid, milliseconds(0)).status().code(), StatusCode::kNotFound);
}

// The thread that answers must not keep the program from its end.
TEST(Process, EndsWhileOthersAsk) {
  ShownProgram program(kShown, [](NullSession& session) { session.submit_and_wait(1); });
  const pid_t pid = program.pid();
  std::atomic<bool> asks{true};
  std::thread other([&] {
    while (asks.load()) static_cast<void>(ask_process(pid, milliseconds(1)));
  });
  EXPECT_EQ(program.end(), 0);
  asks.store(false);
  other.join();
}

TEST(Process, ShowsEarlierNumbersWhileItIsStopped) {
  ShownProgram program(kShown, [](NullSession& session) { session.submit_and_wait(4); });
  const Result<ShownProcess> before = ask_process(program.pid(), kPatience);
  ASSERT_TRUE(before.ok());
  program.signal(SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(program.pid(), &status, WUNTRACED), program.pid());
  const Result<ShownProcess> process = ask_process(program.pid(), milliseconds(20));
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(process->has_answered);
  EXPECT_EQ(process->time_ns, before->time_ns);
  EXPECT_EQ(sum(*process, &ShownUnit::submitted), 4u);
  program.signal(SIGCONT);
  EXPECT_EQ(program.end(), 0);
}

TEST(Process, HasForkedChildrenThatShowNothing) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const ShownProgram program(kShown, [&](NullSession& session) {
    session.submit_and_wait(1);
    const pid_t child = ::fork();
    if (child != 0) {
      static_cast<void>(!::write(ends[1], &child, sizeof(child)));
      return;
    }
    for (;;) ::pause();
  });
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  EXPECT_TRUE(ask_process(program.pid(), kPatience).ok());
  EXPECT_EQ(ask_process(child, milliseconds(0)).status().code(), StatusCode::kNotFound);
  ::kill(child, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace millrace::live
