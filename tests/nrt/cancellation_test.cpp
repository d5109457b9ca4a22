// Threads of the program that are cancelled inside the library: no call is a cancellation point.
#include "nrt/nrt_experimental.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/cancelled_thread.h"

namespace millrace::test {
namespace {

class CancelledIn : public NrtModelTest {};

TEST_F(CancelledIn, AnExecuteEndsFirst) {
  executions().hold();
  NRT_STATUS on_its_thread = kUntouched, in_the_queue = kUntouched;
  CancelledThread first([&] { on_its_thread = execute(); });
  executions().await_arrivals(1);
  CancelledThread second([&] { in_the_queue = execute(); });
  executions().release();
  EXPECT_TRUE(first.ended_after_the_call());
  EXPECT_TRUE(second.ended_after_the_call());
  EXPECT_EQ(on_its_thread, NRT_SUCCESS);
  EXPECT_EQ(in_the_queue, NRT_SUCCESS);
  EXPECT_EQ(execute(), NRT_SUCCESS);
}

TEST_F(CancelledIn, AWaitForACompletionEndsFirst) {
  executions().hold();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(nullptr, &sequence), NRT_SUCCESS);
  NRT_STATUS status = kUntouched;
  CancelledThread waiting(
      [&] { status = nrt_tensor_check_output_completion(output_.get(), -1, 1); });
  executions().release();
  EXPECT_TRUE(waiting.ended_after_the_call());
  EXPECT_EQ(status, NRT_SUCCESS);
}

// While requests are in flight, which it waits for.
TEST_F(CancelledIn, ACloseAndAnInitEndFirst) {
  executions().hold();
  NRT_STATUS ret = kUntouched, started = kUntouched;
  ASSERT_EQ(schedule(&ret, nullptr), NRT_SUCCESS);
  executions().await_arrivals(1);
  CancelledThread closing([] { nrt_close(); });
  executions().release();
  EXPECT_TRUE(closing.ended_after_the_call());
  EXPECT_EQ(ret, NRT_SUCCESS);
  CancelledThread starting([&] { started = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); });
  EXPECT_TRUE(starting.ended_after_the_call());
  EXPECT_EQ(started, NRT_SUCCESS);
  nrt_model_t* model = nullptr;
  CancelledThread loading([&] { model = load(); });
  EXPECT_TRUE(loading.ended_after_the_call());
  EXPECT_NE(model, nullptr);
}

}  // namespace
}  // namespace millrace::test
