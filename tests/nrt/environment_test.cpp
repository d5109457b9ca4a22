// The environment, as nrt_init reads it.
#include <gmock/gmock.h>

#include "tests/nrt/fresh_process.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

// On eight cores, before nrt_init.
class Environment : public testing::Test {
 protected:
  ~Environment() override { nrt_close(); }

  static NRT_STATUS init() { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }
  // The visible cores; 0 when that is an error, which nrt_init must share.
  static uint32_t visible(ScopedEnvironment::Variables variables) {
    const ScopedEnvironment environment(std::move(variables));
    uint32_t before = 0, after = 0;
    const NRT_STATUS asked = nrt_get_visible_vnc_count(&before);
    const NRT_STATUS initialized = init();
    EXPECT_EQ(asked, initialized);
    EXPECT_EQ(nrt_get_visible_nc_count(&after), initialized);
    EXPECT_EQ(before, after);
    EXPECT_TRUE(initialized == NRT_SUCCESS || initialized == NRT_INVALID);
    nrt_close();
    return after;
  }

  const ScopedEnvironment environment_{
      {{"MILLRACE_NRT_CORES", "8"}, {"MILLRACE_DEVICE", "null"}, {"NEURON_RT_LOG_LEVEL", "QUIET"}}};
};

TEST_F(Environment, VisibleCoresAreAnIndexARangeOrAList) {
  EXPECT_EQ(visible({}), 8u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", ""}}), 8u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", "7"}}), 1u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", "2-5"}}), 4u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", "2,3,4"}}), 3u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", "0-1,2,3-4"}}), 5u);
}

TEST_F(Environment, VisibleCoresMustBeOneAscendingRunOfThoseThereAre) {
  for (const char* wrong :
       {"8", "0-8", "3-2", "0,2", "1,0", "0,0", "x", "-1", "1-", ",", "0,", " "})
    EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", wrong}}), 0u) << wrong;
}

TEST_F(Environment, NumCoresTakesSoManyAndYieldsToVisibleCores) {
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "3"}}), 3u);
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "0"}}), 8u);
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "9"}}), 0u);
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "all"}}), 0u);
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "3"}, {"NEURON_RT_VISIBLE_CORES", "1-2"}}), 2u);
}

TEST_F(Environment, TotalCountIgnoresWhatIsVisible) {
  const ScopedEnvironment cores("NEURON_RT_VISIBLE_CORES", "2");
  uint32_t count = 0;
  EXPECT_EQ(nrt_get_total_vnc_count(&count), NRT_SUCCESS);
  EXPECT_EQ(count, 8u);
  ASSERT_EQ(init(), NRT_SUCCESS);
  EXPECT_EQ(nrt_get_total_nc_count(&count), NRT_SUCCESS);
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(nrt_get_total_vnc_count(nullptr), NRT_INVALID);
}

TEST_F(Environment, WrongNumbersMakeInitFailAndNameTheVariable) {
  const LogCapture log;
  for (const char* name :
       {"NEURON_RT_EXEC_TIMEOUT", "MILLRACE_NRT_COMPUTE_DEPTH", "MILLRACE_NRT_TRANSFER_DEPTH",
        "MILLRACE_NRT_COLLECTIVES_DEPTH", "MILLRACE_NRT_FAULT_STATUS", "MILLRACE_NRT_MEMORY"}) {
    const ScopedEnvironment wrong(name, "-3");
    EXPECT_EQ(init(), NRT_INVALID) << name;
    EXPECT_GE(log.count(name), 1u) << name;
  }
}

TEST_F(Environment, ImplicitAsynchronyIsWarnedOfOnce) {
  const LogCapture log;
  const ScopedEnvironment implicit("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4");
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(init(), NRT_SUCCESS);
    nrt_close();
  }
  EXPECT_EQ(log.count("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"), 1u);
  EXPECT_EQ(log.lines()[0].substr(0, 7), "WARNING");
}

TEST_F(Environment, ImplicitAsynchronySetToZeroIsFine) {
  const LogCapture log;
  const ScopedEnvironment implicit("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "0");
  ASSERT_EQ(init(), NRT_SUCCESS);
  EXPECT_EQ(log.count("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"), 0u);
}

// Something to warn of, and something that is an error.
void make_noise(const char* level) {
  if (level != nullptr) setenv("NEURON_RT_LOG_LEVEL", level, 1);
  setenv("MILLRACE_DEVICE", "null", 1);
  setenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4", 1);
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  EXPECT_EQ(nrt_unload(nullptr), NRT_INVALID_HANDLE);
}

TEST(LogLevel, IsWarningsOnStandardErrorByDefault) {
  EXPECT_FRESH(make_noise(nullptr), "implicit asynchronous mode[^~]*nrt_unload");
}

TEST(LogLevel, OfErrorsLeavesOutWarnings) {
  EXPECT_FRESH(make_noise("error"), testing::AllOf(testing::HasSubstr("nrt_unload"),
                                                   testing::Not(testing::HasSubstr("implicit"))));
}

TEST(LogLevel, OfTheRuntimeAloneGoesFirst) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LEVEL_NRT", "ERROR", 1);
        make_noise("QUIET");
      },
      testing::AllOf(testing::HasSubstr("nrt_unload"),
                     testing::Not(testing::HasSubstr("implicit"))));
}

TEST(LogLevel, MayBeQuiet) {
  EXPECT_FRESH(make_noise("QUIET"), testing::Not(testing::HasSubstr("nrt_unload")));
}

}  // namespace
}  // namespace millrace::test
