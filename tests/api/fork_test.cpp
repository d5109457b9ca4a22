// Forked children of a program that uses the library: calls return FORKED, and the child may
// destroy what it has and end.
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>

#include "tests/api/native_fixture.h"
#include "tests/support/run_in_child.h"

namespace millrace::test {
namespace {

class Forked : public NativeApi {
 protected:
  static int exit_code() { return HasFailure() ? 1 : 0; }
};

#define EXPECT_FORKED(call) EXPECT_EQ((call).code(), StatusCode::kForked)

TEST_F(Forked, AChildIsRefusedAndDestroysWhatItHas) {
  std::optional<Unit> unit = make_unit({.depth = 2});
  std::optional<Job> running = submit_started(*unit), queued = submit(*unit);
  EXPECT_EQ(
      run_in_child([&] {
        EXPECT_FORKED(unit->submit(model_, memory_.args()).status());
        EXPECT_FORKED(unit->submit(model_, memory_.args([](JobId, const Status&) {})).status());
        EXPECT_FORKED(unit->try_submit(model_, memory_.args()).status());
        EXPECT_FORKED(unit->execute(model_, memory_.args()));
        EXPECT_FORKED(unit->wait_free(1, kForever));
        EXPECT_FORKED(unit->reset());
        EXPECT_FORKED(running->wait());
        EXPECT_FORKED(running->wait(kForever));
        EXPECT_FORKED(queued->cancel(kForever).status());
        Job* const jobs[] = {&*queued};
        EXPECT_FORKED(wait_all(jobs, kForever));
        EXPECT_FORKED(wait_any(jobs, kForever).status());
        EXPECT_FORKED(Device::open("null").status());
        EXPECT_FORKED(device_.load("no.rai").status());
        EXPECT_FORKED(device_.create_unit({}).status());
        EXPECT_FORKED(Buffer::allocate(64).status());
        EXPECT_FALSE(queued->is_completed());
        queued.reset();
        running.reset();
        unit.reset();
        { const Device gone = std::move(device_); }
        return exit_code();
      }),
      0);
  faults().release();
  EXPECT_TRUE(running->wait().ok());
  EXPECT_TRUE(queued->wait().ok());
}

TEST_F(Forked, AChildMayExitWhileAThreadWaitsAndACallbackRuns) {
  static std::optional<Unit> unit;
  static std::optional<Job> with_callback, waited_for;
  unit = make_unit({.depth = 2});
  faults().let_through(1);
  std::promise<void> inside, go_on;
  with_callback = unit->submit(model_, memory_.args([&](JobId, const Status&) {
                        inside.set_value();
                        go_on.get_future().get();
                      }))
                      .value();
  inside.get_future().get();
  waited_for = submit(*unit);
  std::thread waiting([&] { EXPECT_TRUE(waited_for->wait().ok()); });
  EXPECT_EQ(run_in_child([] { return 7; }), 7);
  go_on.set_value();
  faults().release();
  waiting.join();
  with_callback.reset();
  waited_for.reset();
  unit.reset();
}

}  // namespace
}  // namespace millrace::test
