// Executions that write a NaN.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

// The null device leaves outputs as they are, so that a test can say what they hold.
class NanCheck : public NrtModelTest {
 protected:
  explicit NanCheck(const char* wanted = "1")
      : NrtModelTest("null", {{"MILLRACE_NRT_NAN_CHECK", wanted}}) {}
  NRT_STATUS execute_giving(float number) {
    constexpr size_t kElement = 5;
    EXPECT_EQ(nrt_tensor_write(output_.get(), &number, kElement * sizeof number, sizeof number),
              NRT_SUCCESS);
    return execute();
  }
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
};

TEST_F(NanCheck, FailsAnExecutionAndNothingElse) {
  {
    const LogCapture log;
    EXPECT_EQ(execute_giving(kNan), NRT_EXEC_COMPLETED_WITH_NUM_ERR);
    EXPECT_EQ(log.count("element 5 of output \"probs\", frame 0, is a NaN"), 1u);
  }
  EXPECT_EQ(execute_giving(-kNan), NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  EXPECT_EQ(execute_giving(1), NRT_SUCCESS);
}

TEST_F(NanCheck, DoesNotMindInfinities) {
  EXPECT_EQ(execute_giving(std::numeric_limits<float>::infinity()), NRT_SUCCESS);
  EXPECT_EQ(execute_giving(-std::numeric_limits<float>::infinity()), NRT_SUCCESS);
}

// The model ends with a ReLU, which keeps NaNs.
class NanCheckOfAnExecution : public NrtModelTest {
 protected:
  NanCheckOfAnExecution() : NrtModelTest("faulty-cpu", {{"MILLRACE_NRT_NAN_CHECK", "1"}}) {}
};

TEST_F(NanCheckOfAnExecution, SeesTheNanThatAnInputLeadsTo) {
  std::vector<float> input = some_input(1);
  write_input(input);
  EXPECT_EQ(execute(), NRT_SUCCESS);
  input[0] = std::numeric_limits<float>::quiet_NaN();
  write_input(input);
  EXPECT_EQ(execute(), NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  EXPECT_TRUE(std::isnan(read_output()[0]));
}

class NoNanCheck : public NanCheck {
 protected:
  NoNanCheck() : NanCheck("0") {}
};

TEST_F(NoNanCheck, LetsThemPass) {
  EXPECT_EQ(execute_giving(kNan), NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
