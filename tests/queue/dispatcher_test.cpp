#include "queue/dispatcher.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

TEST(Dispatcher, RunsCallsInTheOrderPostedOnOneThread) {
  Dispatcher dispatcher;
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 100; ++i)
    dispatcher.post([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  dispatcher.drain();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(order[i], i);
    EXPECT_EQ(threads[i], threads[0]);
  }
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(Dispatcher, InstanceIsSharedWhileSomebodyKeepsIt) {
  const auto first = Dispatcher::instance();
  EXPECT_EQ(first, Dispatcher::instance());
}

TEST(Dispatcher, DrainWithoutCallsReturns) {
  Dispatcher dispatcher;
  dispatcher.drain();
  ASSERT_TRUE(dispatcher.start().ok());
  dispatcher.drain();
}

TEST(Dispatcher, DrainOnItsOwnThreadReturnsAtOnce) {
  Dispatcher dispatcher;
  bool own_thread = false;
  dispatcher.post([&] {
    own_thread = dispatcher.on_this_thread();
    dispatcher.drain();
  });
  dispatcher.drain();
  EXPECT_TRUE(own_thread);
  EXPECT_FALSE(dispatcher.on_this_thread());
}

TEST(Dispatcher, DestructorWaitsForPostedCalls) {
  int calls = 0;
  {
    Dispatcher dispatcher;
    for (int i = 0; i < 10; ++i) dispatcher.post([&] { ++calls; });
  }
  EXPECT_EQ(calls, 10);
}

TEST(Dispatcher, CallMayDropTheLastPointer) {
  auto dispatcher = std::make_shared<Dispatcher>();
  test::TaskGate posted;
  test::TaskGate later_call;
  Dispatcher& raw = *dispatcher;
  raw.post([&posted, keep = std::move(dispatcher)]() mutable {
    posted.pass();
    keep.reset();
  });
  raw.post([&] { later_call.open(); });
  posted.open();
  later_call.pass();
}

}  // namespace
}  // namespace millrace::queue
