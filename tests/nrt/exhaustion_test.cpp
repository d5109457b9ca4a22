// Tests the codes of calls when the system refuses to start another thread or to open a file.
#include <unistd.h>

#include <string_view>

#include "tests/nrt/fresh_process.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/descriptor_limit.h"
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

// Uses a device that computes nothing, which needs no thread but the lanes.
class ExhaustionAtTheStart : public testing::Test {
 protected:
  const ScopedEnvironment device_{"MILLRACE_DEVICE", "null"};
};

TEST_F(ExhaustionAtTheStart, IsNoResourceOfInitAndSaysWhatIsMissing) {
  const auto start = [] {
    {
      const ThreadRefusal refusal;
      EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_RESOURCE);
      EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_RESOURCE);
    }
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    nrt_close();
  };
  EXPECT_FRESH(start(),
               "nrt_init: NRT_RESOURCE: the system refused to start any worker thread for the "
               "device");
}

// The plugin of the device is a file that has to be opened.
TEST(ExhaustionOfDescriptors, IsNoResourceOfInitUntilThereIsOne) {
  if (std::string_view(MILLRACE_SANITIZE).find("undefined") != std::string_view::npos)
    GTEST_SKIP() << "without descriptors, UndefinedBehaviorSanitizer finds no object of any type";
  const auto start = [] {
    {
      const DescriptorLimit none(STDERR_FILENO + 1);
      EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_RESOURCE);
    }
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    nrt_close();
  };
  const ScopedEnvironment device("MILLRACE_DEVICE", "cpu");
  EXPECT_FRESH(start(), "nrt_init: NRT_RESOURCE: the plugin of device \"cpu\" cannot be loaded");
}

}  // namespace
}  // namespace millrace::test
