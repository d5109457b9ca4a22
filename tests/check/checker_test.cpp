// The checker within this process, where many threads use it at a time.
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
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
    const Tensor input{.data = picture.data(),
                       .bytes = sizeof picture,
                       .name = "picture",
                       .has_device_copy = has_device_copy};
    const queue::SequenceId id = queue::sequence_of(9, 1);
    begin_job("a job", {&input, 1}, {}, {});
    emit(HookPoint::kSubmitted, id);
    picture[0] += 1;
    emit(HookPoint::kCompleted, id);
    EXPECT_EQ(log_.find("input_written") == std::string::npos, has_device_copy) << log_;
  }
}

TEST_F(CheckerTest, SaysThatAJobMayBeUnknown) {
  note_wait_for_unknown(5);
  EXPECT_NE(log_.find("waits for job 5, which is unknown, or whose result was collected before"),
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
