// Executions that write NaN, infinities or subnormal values.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

// The null device leaves outputs as they are, so that a test can say what they hold.
class NanCheck : public NrtModelTest {
 protected:
  explicit NanCheck(const char* wanted = "1")
      : NrtModelTest("null", {{"NEURON_FAIL_ON_NAN", wanted}}) {}
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
  NanCheckOfAnExecution() : NrtModelTest("faulty-cpu", {{"NEURON_FAIL_ON_NAN", "1"}}) {}
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
  const LogCapture log;
  EXPECT_EQ(execute_giving(kNan), NRT_SUCCESS);
  EXPECT_EQ(log.count("NaN"), 0u);
}

// The null device leaves the output as the test has written it.
class NumericalErrors : public testing::Test {
 protected:
  // The kinds of values that are reported at a level, of which the output has all.
  static std::vector<std::string> reported_at(const char* level) {
    Program program(level);
    const std::vector<float> numbers = {1, kInfinity, kNan, kSubnormal, -kNan, -kInfinity, kNan};
    EXPECT_EQ(nrt_tensor_write(program.output(), numbers.data(), 0, numbers.size() * sizeof(float)),
              NRT_SUCCESS);
    const LogCapture log;
    EXPECT_EQ(program.run(), NRT_SUCCESS) << "the execution succeeds";
    std::vector<std::string> kinds;
    for (const char* kind : {"3 of 160 elements are NaN, the first is 2",
                             "2 of 160 elements are infinite, the first is 1",
                             "1 of 160 elements is subnormal, the first is 3"})
      if (log.count(std::string("WARNING model \"tiny\", output \"probs\", frame 0: ") + kind) == 1)
        kinds.emplace_back(kind);
    return kinds;
  }

  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kSubnormal = std::numeric_limits<float>::denorm_min();

 private:
  class Program : public NrtModelTest {
   public:
    explicit Program(const char* level)
        : NrtModelTest("null", {{"NEURON_RT_NUMERICAL_ERRORS_VERBOSITY", level}}) {}
    nrt_tensor_t* output() const { return output_.get(); }
    NRT_STATUS run() { return execute(); }
    void TestBody() override {}
  };
};

TEST_F(NumericalErrors, AreReportedByLevel) {
  EXPECT_EQ(reported_at("").size(), 0u);
  EXPECT_EQ(reported_at("none").size(), 0u);
  EXPECT_EQ(reported_at("critical"),
            std::vector<std::string>{"3 of 160 elements are NaN, the first is 2"});
  EXPECT_EQ(reported_at("Debug").size(), 3u);
  EXPECT_EQ(reported_at("VERBOSE").size(), 3u);
}

}  // namespace
}  // namespace millrace::test
