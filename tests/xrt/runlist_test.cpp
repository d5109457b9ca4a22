// Queues of operations, and lists of runs.
#include <gmock/gmock.h>

#include <cstdlib>
#include <future>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/log_capture.h"
#include "tests/support/run_in_child.h"
#include "xrt/experimental/xrt_kernel.h"
#include "xrt/experimental/xrt_queue.h"

namespace xrt {
namespace {

TEST(Queue, RunsOperationsInTheirOrder) {
  std::vector<int> order;
  {
    queue operations;
    for (int i = 0; i < 20; ++i) operations.enqueue([&order, i] { order.push_back(i); });
    EXPECT_EQ(operations.enqueue([] { return 7; }).get(), 7);
    operations.enqueue([&order] { order.push_back(20); });
  }
  ASSERT_EQ(order.size(), 21u) << "the last handle waits";
  for (int i = 0; i <= 20; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Queue, AnOperationOfAnotherQueueIsAwaited) {
  queue first;
  queue second;
  std::promise<void> permission;
  std::shared_future<void> permitted = permission.get_future();
  bool ran = false;
  auto operation = first.enqueue([&] {
    permitted.wait();
    ran = true;
  });
  second.enqueue(queue::event(operation));
  auto after = second.enqueue([&] { return ran; });
  permission.set_value();
  EXPECT_TRUE(after.get());
}

TEST(Queue, WhatAnOperationThrowsComesOutOfItsFuture) {
  queue operations;
  auto failed = operations.enqueue([]() -> int { throw std::out_of_range("far"); });
  EXPECT_THROW(failed.get(), std::out_of_range);
  EXPECT_EQ(operations.enqueue([] { return 1; }).get(), 1);
}

TEST(Queue, AnOperationMayOwnTheLastHandle) {
  std::shared_future<void> ended;
  {
    auto operations = std::make_shared<queue>();
    std::promise<void> permission;
    auto permitted = permission.get_future().share();
    ended = operations->enqueue([operations, permitted] { permitted.wait(); });
    operations.reset();
    permission.set_value();
  }
  ended.get();
}

TEST(Queue, OneThatWasMovedFromTakesNoOperations) {
  queue first;
  queue second = std::move(first);
  EXPECT_THROW(first.enqueue([] {}), std::invalid_argument);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.enqueue([] { return 1; }).get(), 1);
}

class RunlistTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("MILLRACE_PL_KERNELS", MILLRACE_TEST_KERNELS, 1); }
  static void TearDownTestSuite() { unsetenv("MILLRACE_PL_KERNELS"); }

  bo word(uint32_t value) {
    bo memory(context_, sizeof value, 0);
    memory.write(&value, sizeof value, 0);
    return memory;
  }
  uint32_t value_of(bo& memory) {
    uint32_t value = 0;
    memory.read(&value, sizeof value, 0);
    return value;
  }
  run copy(const bo& from, const bo& to) {
    run made(kernel(context_, "pass_through"));
    made.set_arg(0, from);
    made.set_arg(1, to);
    made.set_arg(2, 1u);
    return made;
  }

  device device_{1};
  hw_context context_{device_, device_.load_xclbin(xclbin(std::vector<char>{'x'}))};
};

TEST_F(RunlistTest, RunsFollowEachOther) {
  bo first = word(5);
  bo second = word(0);
  bo third = word(0);
  runlist list(context_);
  EXPECT_EQ(list.state(), ERT_CMD_STATE_COMPLETED);
  list.add(copy(first, second));
  list.add(copy(second, third));
  EXPECT_EQ(list.state(), ERT_CMD_STATE_NEW);
  list.execute();
  list.wait();
  EXPECT_EQ(list.state(), ERT_CMD_STATE_COMPLETED);
  EXPECT_EQ(value_of(third), 5u);
  list.reset();
  first = word(6);
  list.add(copy(first, third));
  list.execute();
  EXPECT_EQ(list.wait(std::chrono::hours(1)), std::cv_status::no_timeout);
  EXPECT_EQ(value_of(third), 6u);
}

TEST_F(RunlistTest, WaitNamesTheRunThatFailed) {
  bo from = word(1);
  bo to = word(0);
  runlist list(context_);
  list.add(run(kernel(context_, "pass_through")));  // without arguments
  list.add(copy(from, to));
  list.execute();
  try {
    list.wait();
    FAIL() << "nothing was thrown";
  } catch (const runlist::command_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("run 0"));
    EXPECT_EQ(error.get_command_state(), ERT_CMD_STATE_ERROR);
    EXPECT_TRUE(error.get_run());
  }
  EXPECT_EQ(list.state(), ERT_CMD_STATE_ERROR);
  EXPECT_EQ(value_of(to), 0u) << "those after it were not started";
}

TEST_F(RunlistTest, AListThatIsExecutedStaysAsItIs) {
  bo flag = word(0);
  run waiting(kernel(context_, "await"));
  waiting.set_arg(0, flag);
  runlist list(context_);
  list.add(waiting);
  list.execute();
  EXPECT_EQ(list.wait(std::chrono::milliseconds(1)), std::cv_status::timeout);
  EXPECT_EQ(list.state(), ERT_CMD_STATE_RUNNING);
  EXPECT_EQ(list.poll(), 0);
  EXPECT_THROW(list.add(waiting), std::invalid_argument);
  EXPECT_THROW(list.execute(), std::invalid_argument);
  EXPECT_THROW(list.reset(), std::invalid_argument);
  flag.map<volatile uint32_t*>()[0] = 1;
  list.wait();
  EXPECT_NE(list.poll(), 0);
}

TEST_F(RunlistTest, TheLongestTimeMeansNoLimit) {
  bo flag = word(0);
  run waiting(kernel(context_, "await"));
  waiting.set_arg(0, flag);
  runlist list(context_);
  list.add(waiting);
  list.execute();
  auto waited =
      std::async(std::launch::async, [&] { return list.wait(std::chrono::milliseconds::max()); });
  EXPECT_EQ(waited.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  flag.map<volatile uint32_t*>()[0] = 1;
  EXPECT_EQ(waited.get(), std::cv_status::no_timeout);
}

TEST_F(RunlistTest, AForkedChildDoesNotWaitForIt) {
  bo flag = word(0);
  run waiting(kernel(context_, "await"));
  waiting.set_arg(0, flag);
  runlist list(context_);
  list.add(waiting);
  list.execute();
  // Meanwhile the threads come to rest, so that none holds a lock of a sanitizer during the fork.
  EXPECT_EQ(list.wait(std::chrono::milliseconds(50)), std::cv_status::timeout);
  EXPECT_EQ(millrace::test::run_in_child([&] {
              EXPECT_EQ(list.state(), ERT_CMD_STATE_ERROR);
              EXPECT_THROW(list.poll(), std::runtime_error);
              EXPECT_THROW(list.wait(), std::runtime_error);
              EXPECT_THROW(list.wait(std::chrono::hours(1)), std::runtime_error);
              return HasFailure() ? 1 : 0;
            }),
            0);
  flag.map<volatile uint32_t*>()[0] = 1;
  list.wait();
}

TEST_F(RunlistTest, ARunSaysByAnExceptionThatItFailed) {
  bo from = word(1);
  bo to = word(0);
  run made = copy(from, to);
  EXPECT_THROW(made.wait2(), run::command_error) << "it was not started";
  made.start();
  EXPECT_EQ(made.wait2(), std::cv_status::no_timeout);
  made.stop();
  EXPECT_EQ(value_of(to), 1u);
}

}  // namespace
}  // namespace xrt
