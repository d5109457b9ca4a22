// Event fds of single requests.
#include <fcntl.h>

#include <limits>

#include "tests/nrt/eventfd_fixture.h"

namespace millrace::test {
namespace {

class EventFdOfRequest : public EventFdTest {};

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
  // The reading end is closed: the write raises no signal.
  EXPECT_EQ(notify(sequence, writing.get()), NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
