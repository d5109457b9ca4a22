#include "queue/callbacks/dispatcher.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "queue/callbacks/strand.h"
#include "queue/waiting/monitor.h"
#include "tests/support/float_environments.h"
#include "tests/support/gate.h"
#include "tests/support/library_threads.h"
#include "tests/support/log_capture.h"
#include "tests/support/thread_refusal.h"

namespace millrace::queue {
namespace {

constexpr const char* kThreads = "millrace-calls";

void post(Strand& strand, std::function<void()> call) {
  auto kept = std::make_shared<std::function<void()>>(std::move(call));
  ASSERT_TRUE(strand.start().ok());
  strand.post(PreparedCall([kept](uint64_t, const Status&) { (*kept)(); }));
}

// A dispatcher of the test's own.
class DispatcherTest : public ::testing::Test {
 protected:
  std::unique_ptr<Strand> make_strand(const std::string& name = "a strand") {
    return std::make_unique<Strand>(name, dispatcher_);
  }

  std::shared_ptr<Dispatcher> dispatcher_ = std::make_shared<Dispatcher>();
  std::unique_ptr<Strand> strand_ = make_strand();
};

// One that loses its patience soon.
class ImpatientDispatcher : public DispatcherTest {
 protected:
  ImpatientDispatcher() {
    dispatcher_ = std::make_shared<Dispatcher>(std::chrono::milliseconds(20));
    strand_ = make_strand();
  }
};

TEST_F(DispatcherTest, RunsCallsInTheOrderPostedOnOneThread) {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 100; ++i)
    post(*strand_, [&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  strand_->drain();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(order[i], i);
    EXPECT_EQ(threads[i], threads[0]);
  }
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST_F(DispatcherTest, EachCallHasTheDefaultFloatEnvironment) {
  std::vector<int> roundings;
  {
    const test::ScopedProgramFloats upward(test::ProgramFloats::kUpward);  // inherited by threads
    for (int i = 0; i < 2; ++i)
      post(*strand_, [&] {
        roundings.push_back(std::fegetround());
        std::fesetround(FE_DOWNWARD);
      });
    strand_->drain();
  }
  EXPECT_EQ(roundings, (std::vector<int>{FE_TONEAREST, FE_TONEAREST}));
}

TEST_F(DispatcherTest, OneThreadServesAllStrands) {
  std::vector<std::unique_ptr<Strand>> strands;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 8; ++i) {
    strands.push_back(make_strand());
    for (int call = 0; call < 8; ++call)
      post(*strands.back(), [&] { threads.insert(std::this_thread::get_id()); });
  }
  for (const std::unique_ptr<Strand>& strand : strands) strand->drain();
  EXPECT_EQ(threads.size(), 1u);
}

TEST_F(DispatcherTest, InstanceIsSharedWhileItIsKept) {
  const auto first = Dispatcher::instance();
  EXPECT_EQ(first, Dispatcher::instance());
}

TEST_F(DispatcherTest, DrainWithoutCallsReturns) {
  strand_->drain();
  ASSERT_TRUE(strand_->start().ok());
  strand_->drain();
}

TEST_F(DispatcherTest, DrainOnItsOwnThreadReturnsAtOnce) {
  bool own_thread = false;
  const auto other = make_strand();
  test::TaskGate gate;
  post(*strand_, [&] {
    post(*other, [] {});
    own_thread = strand_->runs_on_this_thread();
    strand_->drain();
    other->drain();
  });
  strand_->drain();
  EXPECT_TRUE(own_thread);
  EXPECT_FALSE(strand_->runs_on_this_thread());
}

TEST_F(DispatcherTest, DestructorWaitsForPostedCalls) {
  int calls = 0;
  for (int i = 0; i < 10; ++i) post(*strand_, [&] { ++calls; });
  strand_.reset();
  dispatcher_.reset();
  EXPECT_EQ(calls, 10);
}

TEST_F(DispatcherTest, CallMayDropTheLastPointer) {
  test::TaskGate posted;
  test::TaskGate later_call;
  Strand& raw = *strand_;
  dispatcher_.reset();
  post(raw, [&posted, keep = std::make_shared<std::unique_ptr<Strand>>(std::move(strand_))] {
    posted.pass();
    keep->reset();
  });
  post(raw, [&] { later_call.open(); });
  posted.open();
  later_call.pass();
}

// Holds the calls of its strand until it is opened.
class StuckCall {
 public:
  explicit StuckCall(Strand& strand) : strand_(strand) {
    post(strand, [this] { gate_.pass(); });
    gate_.await_arrivals(1);
  }
  ~StuckCall() {
    gate_.open();
    strand_.drain();
  }
  StuckCall(const StuckCall&) = delete;
  StuckCall& operator=(const StuckCall&) = delete;

  void open() { gate_.open(); }

 private:
  Strand& strand_;
  test::TaskGate gate_;
};

TEST_F(ImpatientDispatcher, ACallThatDoesNotReturnHoldsItsOwnStrandOnly) {
  const test::LogCapture log;
  const auto other = make_strand("the other");
  StuckCall stuck(*strand_);
  std::vector<int> held, others;
  for (int i = 0; i < 3; ++i) post(*strand_, [&, i] { held.push_back(i); });
  for (int i = 0; i < 3; ++i) post(*other, [&, i] { others.push_back(i); });
  other->drain();
  EXPECT_EQ(others, (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(held.empty());
  log.await("callbacks of a strand take long");
  post(*other, [&] { others.push_back(3); });
  other->drain();
  EXPECT_EQ(others.size(), 4u);
  stuck.open();
  strand_->drain();
  EXPECT_EQ(held, (std::vector<int>{0, 1, 2}));
  // The second thread is no longer needed.
  test::await_library_threads(1, kThreads);
}

// They wait for the thread that the first of them keeps, from before it is known to.
TEST_F(ImpatientDispatcher, StrandsThatWereReadyBeforehandAreServedToo) {
  test::TaskGate begin;
  std::vector<std::unique_ptr<Strand>> others;
  for (int i = 0; i < 3; ++i) others.push_back(make_strand());
  std::atomic<int> served{0};
  post(*others[0], [&] {
    begin.pass();
    ++served;
  });
  begin.await_arrivals(1);
  test::TaskGate never;
  post(*strand_, [&] { never.pass(); });
  for (const std::unique_ptr<Strand>& other : others) post(*other, [&] { ++served; });
  begin.open();
  for (const std::unique_ptr<Strand>& other : others) other->drain();
  EXPECT_EQ(served, 4);
  never.open();
  strand_->drain();
}

TEST_F(ImpatientDispatcher, ThereAreOnlySoManyThreads) {
  const test::LogCapture log;
  std::vector<std::unique_ptr<Strand>> strands;
  std::atomic<size_t> inside{0};
  test::TaskGate gate;
  for (size_t i = 0; i <= Dispatcher::kMaxThreads; ++i) {
    strands.push_back(make_strand());
    post(*strands.back(), [&] {
      ++inside;
      gate.pass();
    });
  }
  log.await("the limit of callback threads is reached");
  EXPECT_EQ(inside, Dispatcher::kMaxThreads);
  EXPECT_EQ(test::library_threads(kThreads), Dispatcher::kMaxThreads);
  gate.open();
  for (const std::unique_ptr<Strand>& strand : strands) strand->drain();
  EXPECT_EQ(inside, Dispatcher::kMaxThreads + 1);
}

// It would ask for its next look at a dispatcher that is no more.
TEST(Dispatcher, MayEndWhileTheMonitorLooksAtIt) {
  auto monitor = Monitor::instance();
  test::TaskGate look, calls;
  set_log_sink(
      [&](LogLevel, std::string_view, std::string_view line) {
        if (line.find("the limit of callback threads is reached") != std::string_view::npos)
          look.pass();
      },
      LogLevel::kDebug);
  auto dispatcher = std::make_shared<Dispatcher>(std::chrono::milliseconds(200));
  std::vector<std::unique_ptr<Strand>> strands;
  for (size_t i = 0; i <= Dispatcher::kMaxThreads; ++i) {
    strands.push_back(std::make_unique<Strand>("a strand", dispatcher));
    post(*strands.back(), [&] { calls.pass(); });
  }
  look.await_arrivals(1);
  calls.open();
  strands.clear();
  dispatcher.reset();
  look.open();
  monitor.reset();  // waits for its thread
  set_log_sink({});
}

TEST_F(ImpatientDispatcher, WithoutAnotherThreadTheOthersWait) {
  const test::LogCapture log;
  const auto other = make_strand();
  ASSERT_TRUE(other->start().ok());
  StuckCall stuck(*strand_);
  bool called = false;
  {
    const test::ThreadRefusal refusal;
    post(*other, [&] { called = true; });
    log.await("refused thread");
  }
  other->drain();
  EXPECT_TRUE(called);
}

// It would be destroyed while its callback runs.
TEST_F(ImpatientDispatcher, DrainInACallWaitsForACallOnAnotherThread) {
  const auto other = make_strand();
  StuckCall stuck(*strand_);
  bool drained = false, ended = false;
  test::TaskGate running;
  post(*other, [&] {
    strand_->drain();
    drained = true;
    EXPECT_TRUE(ended);
  });
  post(*strand_, [] {});
  const auto third = make_strand();
  post(*third, [&] {
    EXPECT_FALSE(drained);
    ended = true;
    stuck.open();
  });
  other->drain();
  third->drain();
  EXPECT_TRUE(drained);
}

TEST_F(ImpatientDispatcher, TheEndOfADispatcherDoesNotWaitForACallThatDoesNotReturn) {
  const test::LogCapture log;
  const auto never = std::make_shared<test::TaskGate>();
  const auto returned = std::make_shared<test::TaskGate>();
  post(*strand_, [never, returned] {
    never->pass();
    returned->open();
  });
  never->await_arrivals(1);
  strand_.reset();
  dispatcher_.reset();
  EXPECT_EQ(log.count("their threads are left running"), 1u);
  never->open();
  returned->pass();
  test::await_library_threads(0, kThreads);
}

TEST_F(DispatcherTest, ACallMayEndItsThread) {
  std::vector<int> called;
  std::shared_ptr<int> captured = std::make_shared<int>();
  for (int i = 0; i < 6; ++i)
    post(*strand_, [&called, i, captured] {
      called.push_back(i);
      if (i % 2 == 0) pthread_exit(nullptr);
    });
  strand_->drain();
  EXPECT_EQ(called, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(captured.use_count(), 1);
  // The thread of this callback was there when the job was accepted, and is not when it completes.
  const auto other = make_strand();
  ASSERT_TRUE(other->start().ok());
  post(*strand_, [&] { pthread_exit(nullptr); });
  strand_->drain();
  other->post(PreparedCall([&](uint64_t, const Status&) { called.push_back(6); }));
  other->drain();
  EXPECT_EQ(called.back(), 6);
}

// Callbacks that close each other's units do this.
TEST_F(ImpatientDispatcher, CallsThatWaitForEachOthersStrandsEnd) {
  const auto other = make_strand();
  test::TaskGate both;
  const auto wait_for = [&both](Strand& strand) {
    both.pass();
    strand.drain();
  };
  post(*strand_, [&] { wait_for(*other); });
  post(*other, [&] { wait_for(*strand_); });
  both.await_arrivals(2);
  both.open();
  strand_->drain();
  other->drain();
}

// The second call comes to a thread that takes the place of the first.
TEST_F(DispatcherTest, ACallMayDestroyTheDispatcherAndEndItsThread) {
  test::TaskGate first, second;
  post(*strand_, [&] {
    first.pass();
    strand_.reset();
    dispatcher_.reset();
    pthread_exit(nullptr);
  });
  post(*strand_, [&] { second.pass(); });
  first.open();
  second.await_arrivals(1);
  second.open();
  test::await_library_threads(0, kThreads);
}

TEST_F(DispatcherTest, ACancelledThreadOfTheDispatcherGoesOn) {
  std::vector<int> called;
  pthread_t thread{};
  post(*strand_, [&] { thread = pthread_self(); });
  strand_->drain();
  ASSERT_EQ(pthread_cancel(thread), 0);
  for (int i = 0; i < 3; ++i) post(*strand_, [&, i] { called.push_back(i); });
  strand_->drain();
  EXPECT_EQ(called, (std::vector<int>{0, 1, 2}));
}

// The calls wait until there is a thread again.
TEST_F(DispatcherTest, WithoutAThreadAfterOneEndedTheCallsAreNotLost) {
  const test::LogCapture log;
  test::TaskGate gate;
  bool called = false;
  post(*strand_, [&] {
    gate.pass();
    pthread_exit(nullptr);
  });
  gate.await_arrivals(1);
  post(*strand_, [&] { called = true; });
  {
    const test::ThreadRefusal refusal;
    gate.open();
    log.await("refused thread");
  }
  strand_->drain();
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace millrace::queue
