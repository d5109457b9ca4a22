#include "queue/dispatcher.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/gate.h"

namespace millrace::queue {
namespace {

void post(Dispatcher& dispatcher, std::function<void()> call) {
  auto kept = std::make_shared<std::function<void()>>(std::move(call));
  ASSERT_TRUE(dispatcher.start().ok());
  dispatcher.post(PreparedCall([kept](uint64_t, const Status&) { (*kept)(); }));
}

TEST(Dispatcher, RunsCallsInTheOrderPostedOnOneThread) {
  Dispatcher dispatcher;
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 100; ++i)
    post(dispatcher, [&, i] {
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

TEST(Dispatcher, InstanceIsSharedWhileItIsKept) {
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
  post(dispatcher, [&] {
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
    for (int i = 0; i < 10; ++i) post(dispatcher, [&] { ++calls; });
  }
  EXPECT_EQ(calls, 10);
}

TEST(Dispatcher, CallMayDropTheLastPointer) {
  auto dispatcher = std::make_shared<Dispatcher>();
  test::TaskGate posted;
  test::TaskGate later_call;
  Dispatcher& raw = *dispatcher;
  post(raw, [&posted, keep = std::move(dispatcher)]() mutable {
    posted.pass();
    keep.reset();
  });
  post(raw, [&] { later_call.open(); });
  posted.open();
  later_call.pass();
}

}  // namespace
}  // namespace millrace::queue
