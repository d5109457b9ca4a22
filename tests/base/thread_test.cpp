// Threads of the library, where the system refuses what is asked of it.
#include "base/process/thread.h"

#include <gmock/gmock.h>
#include <sched.h>

#include "tests/support/thread_refusal.h"

namespace millrace {
namespace {

TEST(Thread, ThatIsRefusedIsAResource) {
  const test::ThreadRefusal refusal;
  const Result<std::thread> thread = start_thread("millrace-test", [] {});
  EXPECT_EQ(thread.status().code(), StatusCode::kResourceExhausted);
}

TEST(Thread, CannotBePinnedToACoreThatDoesNotExist) {
  const Status refused = pin_this_thread(CPU_SETSIZE - 1);
  EXPECT_EQ(refused.code(), StatusCode::kIoError);
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("core 1023"));
}

}  // namespace
}  // namespace millrace
