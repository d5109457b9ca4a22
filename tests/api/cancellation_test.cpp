// Threads of the program that are cancelled inside the library: no call is a cancellation point.
#include <gtest/gtest.h>

#include <optional>

#include "tests/api/native_fixture.h"
#include "tests/support/cancelled_thread.h"

namespace millrace::test {
namespace {

class Cancelled : public NativeApi {};

TEST_F(Cancelled, AWaitGetsItsResultFirst) {
  Unit unit = make_unit({.depth = 2});
  Job running = submit_started(unit), queued = submit(unit);
  Status first, impatient, all;
  CancelledThread waiting([&] { first = running.wait(); });
  CancelledThread giving_up([&] { impatient = queued.wait(std::chrono::milliseconds(1)); });
  CancelledThread waiting_for_all([&] {
    Job* const jobs[] = {&queued};
    all = wait_all(jobs, kForever);
  });
  EXPECT_TRUE(giving_up.ended_after_the_call());
  EXPECT_EQ(impatient.code(), StatusCode::kPending);
  faults().release();
  EXPECT_TRUE(waiting.ended_after_the_call());
  EXPECT_TRUE(waiting_for_all.ended_after_the_call());
  EXPECT_TRUE(first.ok()) << first.message();
  EXPECT_TRUE(all.ok()) << all.message();
  EXPECT_TRUE(queued.wait().ok());
}

TEST_F(Cancelled, AnExecuteAndASubmitThatWaitsForAPlaceGoOn) {
  Unit unit = make_unit({.depth = 1, .when_full = WhenFull::kBlock});
  Status executed, submitted, room;
  CancelledThread executing([&] { executed = unit.execute(model_, memory_.args()); });
  faults().await_arrivals(1);
  CancelledThread submitting([&] {
    Result<Job> job = unit.submit(model_, memory_.args());
    submitted = job.ok() ? job->wait() : job.status();
  });
  CancelledThread waiting_for_room([&] { room = unit.wait_free(1, kForever); });
  faults().release();
  EXPECT_TRUE(executing.ended_after_the_call());
  EXPECT_TRUE(submitting.ended_after_the_call());
  EXPECT_TRUE(waiting_for_room.ended_after_the_call());
  EXPECT_TRUE(executed.ok()) << executed.message();
  EXPECT_TRUE(submitted.ok()) << submitted.message();
  EXPECT_TRUE(room.ok()) << room.message();
}

TEST_F(Cancelled, AHandleAndAUnitThatEndWaitForTheirJobs) {
  std::optional<Unit> unit = make_unit({.depth = 2});
  std::optional<Job> job = submit_started(*unit);
  bool called = false;
  Job second =
      unit->submit(model_, memory_.args([&](JobId, const Status&) { called = true; })).value();
  CancelledThread dropping([&] { job.reset(); });
  CancelledThread closing([&] { unit.reset(); });
  faults().release();
  EXPECT_TRUE(dropping.ended_after_the_call());
  EXPECT_TRUE(closing.ended_after_the_call());
  EXPECT_TRUE(called);
}

TEST_F(Cancelled, ADeviceIsOpenedAndClosed) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("tiny.rai");
  ASSERT_TRUE(write_tiny_model(path).ok());
  Status executed(StatusCode::kInternal, "not run");
  CancelledThread whole([&] {
    Device device = Device::open("null").value();
    const Model model = device.load(path).value();
    const JobMemory memory(model);
    Unit unit = device.create_unit({}).value();
    executed = unit.execute(model, memory.args());
  });
  EXPECT_TRUE(whole.ended_after_the_call());
  EXPECT_TRUE(executed.ok()) << executed.message();
}

}  // namespace
}  // namespace millrace::test
