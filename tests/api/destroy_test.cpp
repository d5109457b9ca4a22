// The end of units and devices with jobs in flight.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/api/native_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class Destroy : public NativeApi {};

TEST_F(Destroy, ADeviceWakesAllWaiters) {
  std::optional<Device> device = Device::open(kGatedDevice).value();
  Unit first = device->create_unit({.depth = 2}).value();
  Unit second = device->create_unit({.depth = 2}).value();
  std::vector<Job> running, waiting;
  for (Unit* unit : {&first, &second}) {
    running.push_back(submit_started(*unit, running.size() + 1));
    waiting.push_back(submit(*unit));
  }
  std::vector<std::future<StatusCode>> waiters;
  for (Job& job : waiting)
    waiters.push_back(std::async(std::launch::async, [&] { return job.wait().code(); }));
  std::future<StatusCode> for_room =
      std::async(std::launch::async, [&] { return first.wait_free(2, kForever).code(); });
  std::thread closer([&] { device.reset(); });
  // Closing has begun when the unit takes no more.
  while (first.submit(model_, memory_.args()).status().code() != StatusCode::kClosed)
    std::this_thread::yield();
  EXPECT_EQ(for_room.get(), StatusCode::kClosed);
  faults().release();
  closer.join();
  EXPECT_EQ(waiters[0].get(), StatusCode::kCancelled);
  waiters[1].get();
  for (Job& job : running) EXPECT_TRUE(job.wait(kPoll).ok());
  EXPECT_EQ(second.submit(model_, memory_.args()).status().code(), StatusCode::kClosed);
  EXPECT_EQ(second.execute(model_, memory_.args()).code(), StatusCode::kClosed);
  EXPECT_EQ(second.wait_free(1, kForever).code(), StatusCode::kClosed);
  EXPECT_EQ(second.in_flight(), 0u);
}

TEST_F(Destroy, ADeviceGivesUpAJobThatHangs) {
  faults().release();
  faults().hang_nth(1);
  std::optional<Device> device = Device::open(kGatedDevice).value();
  Unit unit = device->create_unit({.close_patience = std::chrono::milliseconds(10)}).value();
  Job job = submit(unit);
  faults().await_hangs(1);
  device.reset();
  EXPECT_EQ(job.wait(kPoll).code(), StatusCode::kHung);
  faults().end_hangs();
}

TEST_F(Destroy, ACloseThatWaitsSaysForWhat) {
  faults().release();
  faults().hang_nth(1);
  Unit unit = make_unit({.name = "the wheel", .close_patience = std::chrono::milliseconds(20)});
  Job job = submit(unit);
  faults().await_hangs(1);
  const LogCapture log(LogLevel::kWarning);
  unit.close();
  EXPECT_EQ(job.wait(kPoll).code(), StatusCode::kHung);
  EXPECT_EQ(log.count("the close of the unit waits for it"), 1u);
  EXPECT_EQ(log.count(":1 of unit 'the wheel' (request 0x"), 2u)
      << "that it waits, and that it gave it up";
  for (const char* part : {" is running, in frame 0, partition 0 of model \"tiny\"",
                           "gives it up after 20 ms without progress"})
    EXPECT_EQ(log.count(part), 1u) << part;
}

TEST_F(Destroy, ADeviceLeavesTheUnitsOfOthersAlone) {
  faults().release();
  Unit unit = make_unit();
  { Device other = Device::open(kGatedDevice).value(); }
  EXPECT_TRUE(unit.execute(model_, memory_.args()).ok());
}

TEST_F(Destroy, AModelMayGoWhileItsJobRuns) {
  Unit unit = make_unit();
  std::optional<Model> model = load_tiny(device_, {.batch_size = 2});
  const JobMemory memory(*model);
  Job job = unit.submit(*model, memory.args()).value();
  faults().await_arrivals(1);
  model.reset();
  faults().release();
  EXPECT_TRUE(job.wait().ok());
}

TEST_F(Destroy, AUnitMayEndInItsOwnCallback) {
  auto unit = std::make_unique<Unit>(make_unit());
  std::promise<void> closed;
  Job job = unit->submit(model_, memory_.args([&](JobId, const Status&) {
                  unit.reset();
                  closed.set_value();
                }))
                .value();
  faults().release();
  closed.get_future().get();
  EXPECT_TRUE(job.wait(kPoll).ok());
}

TEST_F(Destroy, BuffersOfAJobLiveUntilItIsCompleted) {
  Unit unit = make_unit();
  std::promise<void> dropped;
  std::vector<float> numbers(model_.inputs()[0].cpu.elements);
  JobMemory memory(model_);
  memory.inputs() = {TensorArg(std::span(numbers))};
  memory.inputs()[0].owner =
      std::shared_ptr<const void>(numbers.data(), [&](const void*) { dropped.set_value(); });
  Job job = unit.submit(model_, memory.args()).value();
  memory.inputs().clear();
  std::future<void> was_dropped = dropped.get_future();
  faults().await_arrivals(1);
  EXPECT_EQ(was_dropped.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  faults().release();
  EXPECT_TRUE(job.wait().ok());
  was_dropped.get();
}

TEST_F(Destroy, HappensUnderLoad) {
  faults().release();
  for (int round = 0; round < 50; ++round) {
    Unit unit = make_unit({.depth = 8});
    std::atomic<int> called{0};
    int submitted = 0;
    std::vector<Job> jobs;
    for (int i = 0; i < 20; ++i) {
      Result<Job> job = unit.submit(model_, memory_.args([&](JobId, const Status&) { ++called; }));
      if (!job.ok()) continue;
      ++submitted;
      jobs.push_back(*std::move(job));
    }
    unit.close();
    ASSERT_EQ(called, submitted) << "every callback is delivered before close returns";
    for (Job& job : jobs) ASSERT_NE(job.wait(kPoll).code(), StatusCode::kPending);
  }
}

}  // namespace
}  // namespace millrace::test
