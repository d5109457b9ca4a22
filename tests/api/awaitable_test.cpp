// co_await of jobs.
#include <gmock/gmock.h>

#include <coroutine>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

// A coroutine that starts at once and goes by itself.
struct Started {
  struct promise_type {
    Started get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

class Awaitable : public NativeApi {};

Started await_one(Job job, std::promise<Status>& result, std::thread::id* went_on = nullptr) {
  const Status status = co_await job;
  if (went_on != nullptr) *went_on = std::this_thread::get_id();
  result.set_value(status);
}

TEST_F(Awaitable, GivesTheStatusOnTheThreadOfTheCallbacks) {
  Unit unit = make_unit();
  std::promise<Status> result;
  std::thread::id went_on;
  await_one(submit_started(unit), result, &went_on);
  faults().release();
  EXPECT_TRUE(result.get_future().get().ok());
  EXPECT_NE(went_on, std::this_thread::get_id());
}

TEST_F(Awaitable, OfACompletedJobGoesOnAtOnce) {
  faults().release();
  Unit unit = make_unit();
  Job job = submit(unit);
  ASSERT_TRUE(unit.wait_free(unit.depth(), kForever).ok());
  std::promise<Status> result;
  std::thread::id went_on;
  await_one(std::move(job), result, &went_on);
  EXPECT_EQ(went_on, std::this_thread::get_id());
  EXPECT_TRUE(result.get_future().get().ok());
}

TEST_F(Awaitable, GivesTheFailure) {
  Unit unit = make_unit();
  faults().fail_nth(1, internal_error("the mill stopped"));
  std::promise<Status> result;
  await_one(submit_started(unit), result);
  faults().release();
  EXPECT_EQ(result.get_future().get().code(), StatusCode::kInternal);
}

TEST_F(Awaitable, OfAnEmptyHandleSaysSo) {
  std::promise<Status> result;
  await_one(Job(), result);
  EXPECT_EQ(result.get_future().get().code(), StatusCode::kInvalidJobId);
}

Started collect_twice(Job job, std::promise<StatusCode>& second) {
  static_cast<void>(co_await job);
  second.set_value((co_await job).code());
}

TEST_F(Awaitable, CollectsOnce) {
  Unit unit = make_unit();
  std::promise<StatusCode> second;
  collect_twice(submit_started(unit), second);
  faults().release();
  EXPECT_EQ(second.get_future().get(), StatusCode::kInvalidJobId);
}

Started run_chain(Unit& unit, const Model& model, const JobMemory& memory, int jobs,
                  std::promise<int>& done) {
  int ok = 0;
  for (int i = 0; i < jobs; ++i) {
    Result<Job> job = unit.submit(model, memory.args());
    if (job.ok() && (co_await *job).ok()) ++ok;
  }
  done.set_value(ok);
}

TEST_F(Awaitable, MaySubmitTheNextJob) {
  faults().release();
  Unit unit = make_unit({.depth = 1});
  std::promise<int> done;
  run_chain(unit, model_, memory_, 200, done);
  EXPECT_EQ(done.get_future().get(), 200);
}

Started own_the_unit(Unit unit, Job job, std::promise<Status>& result) {
  Status status = co_await job;
  job = Job();
  { const Unit ends_here = std::move(unit); }
  result.set_value(std::move(status));
}

TEST_F(Awaitable, MayEndItsUnitWhenItGoesOn) {
  Unit unit = make_unit();
  Job job = submit_started(unit);
  std::promise<Status> result;
  own_the_unit(std::move(unit), std::move(job), result);
  faults().release();
  EXPECT_TRUE(result.get_future().get().ok());
}

TEST_F(Awaitable, IsWokenWhenTheUnitIsClosed) {
  Unit unit = make_unit();
  Job running = submit_started(unit);
  std::promise<Status> result;
  await_one(submit(unit), result);
  std::thread closer([&] { unit.close(); });
  faults().release();
  closer.join();
  const StatusCode code = result.get_future().get().code();
  EXPECT_TRUE(code == StatusCode::kCancelled || code == StatusCode::kOk) << to_string(code);
  EXPECT_TRUE(running.wait().ok());
}

}  // namespace
}  // namespace millrace::test
