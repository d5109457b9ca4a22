// The checker within this process, where many threads use it at a time.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/hooks.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "check/check_state.h"
#include "tests/api/native_fixture.h"
#include "tests/support/gate.h"
#include "tests/support/run_in_child.h"

namespace millrace::check {
namespace {

// Starts a checker whose findings go to a string.
class CheckerTest : public test::NativeApi {
 protected:
  CheckerTest() {
    set_log_sink([this](LogLevel, std::string_view, std::string_view line) {
      log_ += std::string(line) + '\n';
    });
    checker().slow_callback_ns = int64_t{3'600'000'000'000};
    EXPECT_TRUE(start_checking().ok());
  }
  ~CheckerTest() override {
    stop_checking();
    set_log_sink({});
  }

  static bool is_never_asked(JobId id) {
    return std::ranges::any_of(checker().book.never_asked(),
                               [id](const JobPointer& job) { return job->id == id; });
  }

  std::string log_;
};

TEST_F(CheckerTest, FindsNothingInJobsOfManyThreads) {
  test::let_everything_go(faults());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      Unit unit = make_unit({.depth = 2});
      test::JobMemory memory(model_);
      for (int i = 0; i < 100; ++i) {
        Job job = unit.submit(model_, memory.args()).value();
        EXPECT_TRUE(job.wait().ok());
        EXPECT_TRUE(unit.execute(model_, memory.args()).ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log_, "");
}

// Runs a function on a thread with a small stack.
void run_on_stack(size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  const auto body = [](void* work) -> void* {
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &work), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

TEST_F(CheckerTest, SeesThreadsWithSmallStacks) {
  if (std::string_view(MILLRACE_SANITIZE) != "")
    GTEST_SKIP() << "the sanitizers take several times as much stack for each call";
  Unit unit = make_unit({.depth = 2});
  run_on_stack(size_t{32} << 10, [&] {
    Job first = submit(unit), second = submit(unit);
    test::let_everything_go(faults());
    EXPECT_TRUE(first.wait().ok());
    EXPECT_TRUE(second.wait().ok());
  });
  EXPECT_NE(log_.find("shared_output: output \"probs\" of job "), std::string::npos) << log_;
}

TEST_F(CheckerTest, CountsWhatThreadsWithSmallStacksRepeat) {
  if (std::string_view(MILLRACE_SANITIZE) != "")
    GTEST_SKIP() << "the sanitizers take several times as much stack for each call";
  run_on_stack(size_t{32} << 10, [] {
    for (int i = 0; i < 3; ++i) note_second_wait(queue::sequence_of(9, 1));
  });
  const std::vector<Found> findings = checker().reporter.findings();
  const auto found = std::ranges::find(findings, Hazard::kWaitedTwice,
                                       [](const Found& each) { return each.finding.hazard; });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->occurrences, 3u);
  const size_t first = log_.find("waited_twice: ");
  EXPECT_NE(first, std::string::npos) << log_;
  EXPECT_EQ(log_.find("waited_twice: ", first + 1), std::string::npos) << "it is written once";
}

TEST_F(CheckerTest, NamesJobsTensorsAndCalls) {
  Unit unit = make_unit({.depth = 2});
  Job first = submit(unit), second = submit(unit);
  test::let_everything_go(faults());
  EXPECT_TRUE(first.wait().ok());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_NE(log_.find("shared_output: output \"probs\" of job "), std::string::npos) << log_;
  EXPECT_NE(log_.find("was submitted here"), std::string::npos) << log_;
  EXPECT_NE(log_.find("to fix it: "), std::string::npos) << log_;
}

TEST_F(CheckerTest, LetsJobsGiveWayToNewerOnes) {
  Unit unit = make_unit({.depth = 2, .when_full = WhenFull::kDropOldest});
  {
    const Job running = submit_started(unit), dropped = submit(unit), newest = submit(unit);
    EXPECT_TRUE(dropped.is_completed());
    test::let_everything_go(faults());
  }
  EXPECT_EQ(log_.find("ignored_status"), std::string::npos) << log_;
}

TEST_F(CheckerTest, KnowsThatADescriptorOrAPollTellsOfTheCompletion) {
  Unit unit = make_unit({.depth = 4});
  const UniqueFd descriptor(::eventfd(0, EFD_CLOEXEC));
  Job forgotten = submit(unit), announced = submit(unit), polled = submit(unit);
  const JobId ids[] = {forgotten.id(), announced.id(), polled.id()};
  EXPECT_TRUE(announced.notify_fd(descriptor.get()).ok());
  forgotten.detach();
  announced.detach();
  test::let_everything_go(faults());
  while (!polled.is_completed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  polled.detach();
  EXPECT_TRUE(is_never_asked(ids[0]));
  EXPECT_FALSE(is_never_asked(ids[1]));
  EXPECT_FALSE(is_never_asked(ids[2]));
}

// Under strict sync a sync towards the host writes memory whose copy a job reads.
TEST_F(CheckerTest, ComparesNoMemoryOfWhichTheDeviceHasACopy) {
  std::array<float, 16> picture{};
  for (const bool has_device_copy : {true, false}) {
    const Tensor input{
        .data = picture.data(),
        .bytes = sizeof picture,
        .name = "picture",
        .device_copy = has_device_copy ? std::optional<uint64_t>(4096) : std::nullopt};
    const queue::SequenceId id = queue::sequence_of(9, 1);
    begin_job("a job", {&input, 1}, {}, {});
    emit(HookPoint::kSubmitted, id);
    picture[0] += 1;
    emit(HookPoint::kCompleted, id);
    EXPECT_EQ(log_.find("input_written") == std::string::npos, has_device_copy) << log_;
  }
}

// Returns what was found about the tensor of this name.
std::vector<Found> found_about(std::string_view tensor) {
  std::vector<Found> found = checker().reporter.findings();
  std::erase_if(found, [&](const Found& each) {
    return !each.finding.tensor || each.finding.tensor->name != tensor;
  });
  return found;
}

TEST_F(CheckerTest, SaysWhenAndWhereAnInputWasWritten) {
  struct Case {
    std::string_view name;
    bool before_start, while_running;
    JobPoint after, before;
  };
  for (const Case& made : {Case{"early", true, false, JobPoint::kSubmitted, JobPoint::kStarted},
                           Case{"late", false, true, JobPoint::kStarted, JobPoint::kCompleted},
                           Case{"twice", true, true, JobPoint::kSubmitted, JobPoint::kCompleted}}) {
    std::array<float, 64> picture{};
    const Tensor input{.data = picture.data(), .bytes = sizeof picture, .name = made.name};
    const queue::SequenceId id = queue::sequence_of(9, 2);
    begin_job("a model", {&input, 1}, {}, {});
    emit(HookPoint::kSubmitted, id);
    if (made.before_start) picture[20] += 1;
    emit(HookPoint::kStarted, id);
    if (made.while_running) picture[21] += 1;
    emit(HookPoint::kCompleted, id);
    const std::vector<Found> found = found_about(made.name);
    ASSERT_EQ(found.size(), 1u) << made.name;
    ASSERT_TRUE(found[0].finding.written);
    const Written& written = *found[0].finding.written;
    EXPECT_EQ(written.after, made.after) << made.name;
    EXPECT_EQ(written.before, made.before) << made.name;
    EXPECT_EQ(written.bytes.begin, 64u) << "a cache line";
    EXPECT_EQ(written.bytes.end, 128u);
  }
}

// Submits a job with one tensor, and calls work() on another thread, which runs it.
template <class Work>
[[gnu::noinline]] void run_elsewhere(queue::SequenceId id, const Tensor& tensor, bool is_output,
                                     Work&& work) {
  const std::span<const Tensor> tensors(&tensor, 1), none;
  begin_job("a model", is_output ? none : tensors, is_output ? tensors : none, {});
  emit(HookPoint::kSubmitted, id);
  std::thread([&] {
    emit(HookPoint::kStarted, id);
    work();
    emit(HookPoint::kCompleted, id);
  }).join();
}

TEST_F(CheckerTest, CountsAMissingSyncOnceWhicheverThreadRunsTheJob) {
  constexpr uint64_t kDeviceAddress = 1 << 20;
  std::array<float, 64> data{};
  const Tensor input{.data = data.data(),
                     .bytes = sizeof data,
                     .name = "not synced",
                     .device_copy = kDeviceAddress};
  for (const uint64_t number : std::vector<uint64_t>{1, 2, 3})
    run_elsewhere(queue::sequence_of(9, number), input, false,
                  [] { emit(HookPoint::kSyncMissing, kDeviceAddress + 64, 0); });
  const std::vector<Found> found = found_about("not synced");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].occurrences, 3u);
  EXPECT_EQ(found[0].finding.jobs, std::vector<std::string>{"job 9:1 of a model"});
  EXPECT_FALSE(found[0].finding.places.at(0).stack.empty());
}

TEST_F(CheckerTest, NamesTheJobWhoseResultIsLost) {
  constexpr uint64_t kDeviceAddress = 1 << 21;
  std::array<float, 64> data{};
  const Tensor output{
      .data = data.data(), .bytes = sizeof data, .name = "lost", .device_copy = kDeviceAddress};
  run_elsewhere(queue::sequence_of(9, 5), output, true, [] {});
  run_elsewhere(queue::sequence_of(9, 6), output, true,
                [] { emit(HookPoint::kSyncMissing, kDeviceAddress, 1); });
  const std::vector<Found> found = found_about("lost");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].finding.jobs, std::vector<std::string>{"job 9:5 of a model"});
  ASSERT_EQ(found[0].finding.places.size(), 2u);
  EXPECT_EQ(found[0].finding.places[1].what, "job 9:6 of a model was submitted here");
}

TEST_F(CheckerTest, SaysThatAJobMayBeUnknown) {
  note_wait_for_unknown(5);
  EXPECT_NE(
      log_.find(
          "waits for job 5 of a runner, which is unknown, or whose result was collected before"),
      std::string::npos)
      << log_;
}

// An observer that holds the thread within the table of hooks.
void pass_gate(void* gate, const HookEvent& event) noexcept {
  if (event.point == HookPoint::kBufferMade) static_cast<test::TaskGate*>(gate)->pass();
}

TEST_F(CheckerTest, LetsAForkedChildEndWhileAThreadEmitsAnEvent) {
  test::TaskGate gate;
  ASSERT_TRUE(add_hook(pass_gate, &gate));
  std::thread emitter([] { emit(HookPoint::kBufferMade, 0); });
  gate.await_arrivals(1);
  EXPECT_EQ(test::run_in_child([] {
              end_checking();
              return 7;
            }),
            7);
  gate.open();
  emitter.join();
  remove_hook(pass_gate, &gate);
}

}  // namespace
}  // namespace millrace::check
