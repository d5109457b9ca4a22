// The memory that a request needs to complete is set aside when it is accepted: a submit without
// memory is refused and changes nothing; everything after it needs none.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "queue/requests/result_table.h"
#include "queue/units/unit.h"
#include "tests/queue/function_task.h"
#include "tests/support/counting_new.h"
#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

using test::FailingAllocation;

TEST(OutOfMemory, AStatusWithoutMemoryForItsMessageKeepsItsCode) {
  std::string message = "the reason, which is longer than a short string";
  const FailingAllocation failing(0);
  const Status status(StatusCode::kDropped, std::move(message));
  const Status in_context = status.with_context("somewhere");
  EXPECT_TRUE(failing.happened());
  EXPECT_EQ(status.code(), StatusCode::kDropped);
  EXPECT_FALSE(status.message().empty());
  EXPECT_EQ(in_context.code(), StatusCode::kDropped);
}

TEST(OutOfMemory, WithoutMemoryForMoreFailuresTheOldestAreForgotten) {
  const Status status(StatusCode::kIoError, "the reason");
  ResultTable table(4);
  for (uint64_t counter = 2; counter <= 6; ++counter) {
    const FailingAllocation failing(0);
    table.record_failure(counter, status, false);
    EXPECT_EQ(failing.happened(), counter == 6);
  }
  EXPECT_TRUE(table.find(1)->status.ok()) << "older, and no failure";
  EXPECT_FALSE(table.find(2).has_value());
  for (uint64_t counter = 3; counter <= 6; ++counter)
    EXPECT_EQ(table.find(counter)->status.message(), "the reason");
}

// Each allocation of the submit fails in turn, until none does.
TEST(OutOfMemory, ASubmitIsRefusedOrItsCallbackComes) {
  std::atomic<int> callbacks{0};
  int accepted = 0;
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 1000);
  for (size_t count = 0;; ++count) {
    auto fill = fill_with(nothing);
    SubmitOptions options{.callback = [&](SequenceId, const Status&) { ++callbacks; }};
    const FailingAllocation failing(count);
    const Result<SequenceId> id = unit->submit(fill, std::move(options));
    if (id.ok())
      ++accepted;
    else
      EXPECT_EQ(id.status().code(), StatusCode::kOutOfMemory) << id.status().to_string();
    EXPECT_EQ(counter_of(unit->last_submitted()), static_cast<uint64_t>(accepted));
    if (!failing.happened()) break;
  }
  EXPECT_GE(accepted, 1);
  unit->close();
  EXPECT_EQ(callbacks, accepted);
}

TEST(OutOfMemory, ARemovalAndItsCallbackNeedNoMemory) {
  std::vector<SequenceId> called;
  called.reserve(8);
  test::TaskGate gate;
  Lanes lanes({.count = 1});
  const auto unit = make_unit(lanes, 8);
  const auto note = [&](SequenceId id, const Status&) { called.push_back(id); };
  const SequenceId running = *submit(
      *unit,
      [&](LaneId) {
        gate.pass();
        return Status();
      },
      note);
  gate.await_arrivals(1);
  const SequenceId first = *submit(*unit, nothing, note);
  const SequenceId second = *submit(*unit, nothing, note);
  {
    const FailingAllocation failing(0);
    // The later one first: callbacks come in the order of submission all the same.
    EXPECT_TRUE(unit->cancel(second, kForever).ok());
    EXPECT_TRUE(unit->cancel(first, kForever).ok());
  }
  gate.open();
  EXPECT_TRUE(unit->wait(running, kForever).ok());
  unit->close();
  EXPECT_EQ(called, (std::vector{running, first, second}));
}

}  // namespace
}  // namespace millrace::queue
