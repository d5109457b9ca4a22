// The completion handles of 2.28: event fds that the library makes.
#include "tests/nrt/eventfd_fixture.h"

namespace millrace::test {
namespace {

class CompletionHandle : public EventFdTest {};

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

TEST_F(CompletionHandle, IsMadeByTheCallOf227Too) {
  const nrta_seq_t sequence = completed_write();
  int handle = -1;
  ASSERT_EQ(nrta_mark(sequence, &handle), NRT_SUCCESS);
  EXPECT_TRUE(is_readable(handle));
  ::close(handle);
  EXPECT_EQ(nrta_start_next(0), NRT_SUCCESS);
}

TEST_F(CompletionHandle, NeedsAnIssuedId) {
  int handle = -7;
  EXPECT_EQ(nrta_mark(12345, &handle), NRT_INVALID);
  EXPECT_EQ(nrta_get_completion_handle(12345, &handle), NRT_INVALID);
  EXPECT_EQ(nrta_get_completion_handle(completed_write(), nullptr), NRT_INVALID);
  EXPECT_EQ(handle, -7);
}

class LostCompletionHandle : public EventFdTest {
 protected:
  LostCompletionHandle() : EventFdTest("faulty-null", {{"MILLRACE_FAULTS", "fdloss:jobs=2"}}) {}
};

TEST_F(LostCompletionHandle, IsAFailureOfTheCallAndOfNothingElse) {
  const nrta_seq_t sequence = completed_write();
  for (const NRT_STATUS expected : {NRT_SUCCESS, NRT_RESOURCE, NRT_SUCCESS}) {
    int handle = -1;
    EXPECT_EQ(nrta_get_completion_handle(sequence, &handle), expected);
    EXPECT_EQ(handle >= 0, expected == NRT_SUCCESS);
    if (handle >= 0) ::close(handle);
  }
}

}  // namespace
}  // namespace millrace::test
