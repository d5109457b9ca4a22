// What calls return when the system refuses to start another thread.
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/thread_refusal.h"

namespace millrace::test {
namespace {

class Exhaustion : public NrtModelTest {};

TEST_F(Exhaustion, OfThreadsIsNoResourceUntilThereIsOne) {
  nrta_seq_t sequence = 77;
  NRT_STATUS ret = kUntouched;
  {
    const ThreadRefusal refusal;
    EXPECT_EQ(schedule_write(&ret, &sequence), NRT_RESOURCE);
  }
  EXPECT_EQ(sequence, 77u);
  EXPECT_EQ(ret, kUntouched);
  ASSERT_EQ(schedule_write(&ret, &sequence), NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), 1u);
  await(sequence);
  EXPECT_EQ(ret, NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
