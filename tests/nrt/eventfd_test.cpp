// Event fds: one per request, one per unit, and the handles of 2.28.
#include <fcntl.h>
#include <sys/epoll.h>

#include <limits>

#include "tests/nrt/event_fd.h"
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class EventFds : public NrtModelTest {
 protected:
  // A transfer that is held at the gate.
  nrta_seq_t held_write() {
    nrta_seq_t sequence = 0;
    EXPECT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
    return sequence;
  }
  nrta_seq_t completed_write() {
    const nrta_seq_t sequence = held_write();
    await(sequence);
    return sequence;
  }
  void release_and_await(nrta_seq_t sequence) {
    transfers().release();
    await(sequence);
  }
  static NRT_STATUS notify(nrta_seq_t sequence, int fd) {
    return nrta_event_register_seq_id_completion(sequence, fd);
  }
};

using EventFdOfRequest = EventFds;

TEST_F(EventFdOfRequest, IsTheCallersWithAnyFlags) {
  transfers().hold();
  EventFd blocking(0), nonblocking(EFD_NONBLOCK), semaphore(EFD_SEMAPHORE);
  const nrta_seq_t first = held_write(), second = held_write(), third = held_write();
  ASSERT_EQ(notify(first, blocking.get()), NRT_SUCCESS);
  ASSERT_EQ(notify(second, nonblocking.get()), NRT_SUCCESS);
  ASSERT_EQ(notify(third, semaphore.get()), NRT_SUCCESS);
  EXPECT_FALSE(is_readable(blocking.get()));
  transfers().release();
  EXPECT_EQ(blocking.await(), 1u);
  EXPECT_EQ(nonblocking.await(), 1u);
  EXPECT_EQ(semaphore.await(), 1u);
  EXPECT_GE(fcntl(blocking.get(), F_GETFD), 0);
}

TEST_F(EventFdOfRequest, GetsOneOnce) {
  transfers().hold();
  EventFd event;
  const nrta_seq_t sequence = held_write();
  ASSERT_EQ(notify(sequence, event.get()), NRT_SUCCESS);
  transfers().release();
  EXPECT_EQ(event.await(), 1u);
  completed_write();
  EXPECT_EQ(event.take(), 0u);
}

TEST_F(EventFdOfRequest, IsToldAtOnceOfWhatHasCompleted) {
  const nrta_seq_t sequence = completed_write();
  EventFd event(0);
  ASSERT_EQ(notify(sequence, event.get()), NRT_SUCCESS);
  EXPECT_EQ(event.take(), 1u);
}

TEST_F(EventFdOfRequest, LosesNoWakeUpBetweenScheduleAndRegistration) {
  EventFd event(0);
  for (int round = 0; round < 500; ++round) {
    nrta_seq_t sequence = 0;
    ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
    ASSERT_EQ(notify(sequence, event.get()), NRT_SUCCESS);
    ASSERT_EQ(event.await(), 1u);
    ASSERT_EQ(notify(sequence, -1), NRT_SUCCESS);
  }
}

TEST_F(EventFdOfRequest, IsDeregisteredByANegativeOne) {
  transfers().hold();
  EventFd event;
  const nrta_seq_t sequence = held_write();
  ASSERT_EQ(notify(sequence, event.get()), NRT_SUCCESS);
  ASSERT_EQ(notify(sequence, -1), NRT_SUCCESS);
  EXPECT_EQ(notify(sequence, -1), NRT_SUCCESS);
  release_and_await(sequence);
  completed_write();
  EXPECT_EQ(event.take(), 0u);
  EXPECT_EQ(notify(sequence, -7), NRT_SUCCESS);
}

TEST_F(EventFdOfRequest, IsReplacedByALaterOne) {
  transfers().hold();
  EventFd first, second;
  const nrta_seq_t sequence = held_write();
  ASSERT_EQ(notify(sequence, first.get()), NRT_SUCCESS);
  ASSERT_EQ(notify(sequence, second.get()), NRT_SUCCESS);
  transfers().release();
  EXPECT_EQ(second.await(), 1u);
  EXPECT_EQ(first.take(), 0u);
}

TEST_F(EventFdOfRequest, MayBeThatOfManyRequests) {
  transfers().hold();
  EventFd event;
  nrta_seq_t last = 0;
  for (int i = 0; i < 5; ++i) {
    last = held_write();
    ASSERT_EQ(notify(last, event.get()), NRT_SUCCESS);
  }
  release_and_await(last);
  for (uint64_t count = 0; count < 5;) count += event.await();
  EXPECT_EQ(event.take(), 0u);
}

TEST_F(EventFdOfRequest, MayBeClosedEarlyAndItsNumberUsedAgain) {
  transfers().hold();
  const nrta_seq_t sequence = held_write();
  EventFd event;
  const int number = event.get();
  ASSERT_EQ(notify(sequence, number), NRT_SUCCESS);
  event.close();
  EventFd other;
  ASSERT_EQ(other.get(), number);
  transfers().release();
  await(sequence);
  completed_write();
  EXPECT_EQ(other.take(), 0u);
}

TEST_F(EventFdOfRequest, MayBeFullAndNeverBlocksTheLibrary) {
  transfers().hold();
  EventFd full(0);
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max() - 1;
  ASSERT_EQ(::write(full.get(), &kMost, sizeof kMost), ssize_t{sizeof kMost});
  const nrta_seq_t sequence = held_write();
  ASSERT_EQ(notify(sequence, full.get()), NRT_SUCCESS);
  release_and_await(sequence);
  completed_write();
  EXPECT_EQ(full.take(), kMost);
}

TEST_F(EventFdOfRequest, NeedsAnIssuedIdAndAnOpenDescriptor) {
  EventFd event;
  const nrta_seq_t sequence = completed_write();
  EXPECT_EQ(notify(sequence + 1, event.get()), NRT_INVALID);
  EXPECT_EQ(notify(0, event.get()), NRT_INVALID);
  EXPECT_EQ(notify(sequence + 1, -1), NRT_INVALID);
  const int number = event.get();
  event.close();
  EXPECT_EQ(notify(sequence, number), NRT_INVALID);
}

TEST_F(EventFdOfRequest, MayBeAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  UniqueFd reading(ends[0]), writing(ends[1]);
  const nrta_seq_t sequence = completed_write();
  ASSERT_EQ(notify(sequence, writing.get()), NRT_SUCCESS);
  uint64_t one = 0;
  EXPECT_EQ(::read(reading.get(), &one, sizeof one), ssize_t{sizeof one});
  EXPECT_EQ(one, 1u);
  reading = UniqueFd();
  // Nobody reads any more: no signal.
  EXPECT_EQ(notify(sequence, writing.get()), NRT_SUCCESS);
}

using EventFdOfUnit = EventFds;

TEST_F(EventFdOfUnit, ServesALevelTriggeredEpollLoop) {
  EventFd event;
  // The unit has never been used.
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, event.get()), NRT_SUCCESS);
  const UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event interest{EPOLLIN, {}};
  ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.get(), &interest), 0);
  constexpr uint64_t kRequests = 500;
  std::thread scheduler([&] {
    for (uint64_t i = 0; i < kRequests; ++i)
      EXPECT_EQ(schedule_write(nullptr, nullptr), NRT_SUCCESS);
  });
  for (uint64_t completed = 0; completed < kRequests;) {
    epoll_event ready{};
    if (epoll_wait(epoll.get(), &ready, 1, -1) != 1) continue;
    event.take();
    completed = NRTA_SEQ_GET_SEQ_NUM(last_completed(NRTA_XU_TENSOR_OP));
  }
  scheduler.join();
}

TEST_F(EventFdOfUnit, IsToldOfEachCompletionOnceItsSequenceIsVisible) {
  EventFd event;
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, event.get()), NRT_SUCCESS);
  for (int round = 0; round < 300; ++round) {
    nrta_seq_t sequence = 0;
    ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
    EXPECT_GE(event.await(), 1u);
    ASSERT_EQ(last_completed(NRTA_XU_TENSOR_OP), sequence);
  }
}

TEST_F(EventFdOfUnit, HearsOfItsUnitOnly) {
  EventFd transfers_of_0, other_queue, compute, other_core;
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, transfers_of_0.get()),
            NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 1, other_queue.get()),
            NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, compute.get()), NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_xu_completion(1, NRTA_XU_TENSOR_OP, 0, other_core.get()),
            NRT_SUCCESS);
  completed_write();
  transfers_of_0.await();
  for (EventFd* silent : {&other_queue, &compute, &other_core}) EXPECT_EQ(silent->take(), 0u);
}

TEST_F(EventFdOfUnit, IsNotToldOfThePastAndMayBeReplacedAndRemoved) {
  completed_write();
  EventFd first, second;
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, first.get()), NRT_SUCCESS);
  EXPECT_EQ(first.take(), 0u);
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, second.get()), NRT_SUCCESS);
  completed_write();
  second.await();
  EXPECT_EQ(first.take(), 0u);
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, -1), NRT_SUCCESS);
  completed_write();
  completed_write();
  EXPECT_EQ(second.take(), 0u);
}

TEST_F(EventFdOfUnit, NeedsAUnit) {
  EventFd event;
  EXPECT_EQ(nrta_event_register_xu_completion(2, NRTA_XU_TENSOR_OP, 0, event.get()), NRT_INVALID);
  EXPECT_EQ(nrta_event_register_xu_completion(-1, NRTA_XU_TENSOR_OP, 0, event.get()), NRT_INVALID);
  EXPECT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_NUM, 0, event.get()), NRT_INVALID);
  EXPECT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 1, event.get()), NRT_INVALID);
}

using CompletionHandle = EventFds;

TEST_F(CompletionHandle, StaysReadableOnceTheRequestIsComplete) {
  transfers().hold();
  const nrta_seq_t sequence = held_write();
  int first = -1, second = -1;
  ASSERT_EQ(nrta_get_completion_handle(sequence, &first), NRT_SUCCESS);
  ASSERT_EQ(nrta_get_completion_handle(sequence, &second), NRT_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_FALSE(is_readable(first));
  ::close(first);
  transfers().release();
  await_readable(second);
  EXPECT_TRUE(is_completed(sequence));
  EXPECT_TRUE(is_readable(second));
  ::close(second);
}

TEST_F(CompletionHandle, OfACompletedRequestIsReadable) {
  const nrta_seq_t sequence = completed_write();
  for (int round = 0; round < 3; ++round) {
    int handle = -1;
    ASSERT_EQ(nrta_get_completion_handle(sequence, &handle), NRT_SUCCESS);
    EXPECT_TRUE(is_readable(handle));
    ::close(handle);
  }
}

TEST_F(CompletionHandle, LeavesTheEventFdOfTheRequestInPlace) {
  transfers().hold();
  const nrta_seq_t sequence = held_write();
  EventFd before;
  ASSERT_EQ(notify(sequence, before.get()), NRT_SUCCESS);
  int number = -1;
  ASSERT_EQ(nrta_get_completion_handle(sequence, &number), NRT_SUCCESS);
  const UniqueFd handle(number);
  EventFd after;
  ASSERT_EQ(notify(sequence, after.get()), NRT_SUCCESS);
  transfers().release();
  EXPECT_EQ(after.await(), 1u);
  await_readable(handle.get());
  EXPECT_EQ(before.take(), 0u);
}

TEST_F(CompletionHandle, NeedsAnIssuedId) {
  int handle = -7;
  EXPECT_EQ(nrta_get_completion_handle(12345, &handle), NRT_INVALID);
  EXPECT_EQ(nrta_get_completion_handle(completed_write(), nullptr), NRT_INVALID);
  EXPECT_EQ(handle, -7);
}

}  // namespace
}  // namespace millrace::test
