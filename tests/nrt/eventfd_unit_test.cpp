// Event fds that every completion of a unit signals.
#include <sys/epoll.h>

#include "tests/nrt/eventfd_fixture.h"

namespace millrace::test {
namespace {

class EventFdOfUnit : public EventFdTest {};

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
  EXPECT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_TYPE_NUM, 0, event.get()), NRT_INVALID);
  EXPECT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 1, event.get()), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
