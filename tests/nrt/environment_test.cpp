// The environment, as nrt_init reads it.
#include <gmock/gmock.h>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

// On eight cores, before nrt_init.
class Environment : public testing::Test {
 protected:
  ~Environment() override { nrt_close(); }

  static NRT_STATUS init() { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }
  // The number of visible cores; 0 for an error, which nrt_init must return as well.
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
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", " 0, 1 ,2 - 3 "}}), 4u);
}

// On a machine with fewer processors.
TEST_F(Environment, ThereAreAsManyCoresAsAreAskedFor) {
  const ScopedEnvironment unset("MILLRACE_NRT_CORES", "");
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "100"}}), 100u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", "126-127"}}), 2u);
  EXPECT_EQ(visible({{"NEURON_RT_VISIBLE_CORES", "127-128"}}), 0u);
  const LogCapture log(LogLevel::kInfo);
  EXPECT_EQ(visible({{"NEURON_RT_NUM_CORES", "128"}}), 128u);
  EXPECT_EQ(log.count("logical cores 0 to 127 of 128, which share the lanes"), 1u);
}

TEST_F(Environment, VisibleCoresMustBeOneAscendingRunOfThoseThereAre) {
  for (const char* wrong :
       {"8", "0-8", "3-2", "0,2", "1,0", "0,0", "x", "-1", "1-", ",", "0,", " ", "1 2"})
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
        "MILLRACE_NRT_COLLECTIVES_DEPTH", "MILLRACE_NRT_FAULT_STATUS", "MILLRACE_NRT_MEMORY",
        "MILLRACE_NRT_SENDRECV_PORT", "MILLRACE_NRT_SENDRECV_TIMEOUT", "MILLRACE_WATCHDOG",
        "NEURON_FAIL_ON_NAN", "NEURON_RT_NUMERICAL_ERRORS_VERBOSITY",
        "NEURON_RT_DBG_DUMP_INPUTS_ON_ERR"}) {
    const ScopedEnvironment wrong(name, "-3");
    EXPECT_EQ(init(), NRT_INVALID) << name;
    EXPECT_GE(log.count(name), 1u) << name;
  }
}

// The published range of the variable. 0 has no limit, as its largest value.
TEST_F(Environment, TheExecutionTimeoutIsAnyPositiveInt) {
  for (const char* seconds : {"0", "1", "2147483647"}) {
    const ScopedEnvironment timeout("NEURON_RT_EXEC_TIMEOUT", seconds);
    const LogCapture log;
    ASSERT_EQ(init(), NRT_SUCCESS) << seconds;
    EXPECT_EQ(log.count(std::string(seconds) == "1" ? "execution timeout 1 s"
                                                    : "execution timeout 2147483647 s"),
              1u)
        << seconds;
    nrt_close();
  }
  const ScopedEnvironment too_long("NEURON_RT_EXEC_TIMEOUT", "2147483648");
  EXPECT_EQ(init(), NRT_INVALID);
}

// A variable of which a program would miss what it asks for.
TEST_F(Environment, WhatIsRefusedIsWarnedOfOnce) {
  const LogCapture log;
  for (const char* value : {"0", "false", "1", "1"}) {
    const ScopedEnvironment rounding("NEURON_RT_STOCHASTIC_ROUNDING_EN", value);
    ASSERT_EQ(init(), NRT_SUCCESS);
    EXPECT_EQ(log.count("WARNING NEURON_RT_STOCHASTIC_ROUNDING_EN is set, but results are"),
              std::string(value) == "1" ? 1u : 0u);
    nrt_close();
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

// The message of nrt_init for a value that it refuses.
TEST_F(Environment, MessagesSayWhatIsTaken) {
  const struct {
    const char* name;
    const char* value;
    const char* message;
  } kCases[] = {
      {"NEURON_RT_VISIBLE_CORES", "-1",
       "NEURON_RT_VISIBLE_CORES is \"-1\": it takes a core, a range or a list of them"},
      {"NEURON_RT_VISIBLE_CORES", "0,2", "NEURON_RT_VISIBLE_CORES is \"0,2\": the cores must be"},
      {"NEURON_RT_NUM_CORES", "9", "NEURON_RT_NUM_CORES is \"9\", but there are 8 logical cores"},
      {"MILLRACE_NRT_MEMORY", "lots", "MILLRACE_NRT_MEMORY is \"lots\": it takes bytes, or K, M"},
      {"MILLRACE_WATCHDOG", "10", "MILLRACE_WATCHDOG: \"10\" is no duration"},
      {"NEURON_RT_NUMERICAL_ERRORS_VERBOSITY", "all",
       "is \"all\": it takes none, critical, debug or verbose"},
      {"NEURON_RT_DBG_DUMP_INPUTS_ON_ERR", "NRT_OOPS",
       "is \"NRT_OOPS\": it takes the name or number of an NRT_STATUS, or 0"},
  };
  for (const auto& [name, value, message] : kCases) {
    const LogCapture log;
    const ScopedEnvironment wrong(name, value);
    EXPECT_EQ(init(), NRT_INVALID) << value;
    EXPECT_EQ(log.count(message), 1u) << message << testing::PrintToString(log.lines());
  }
}

TEST_F(Environment, OneCoreIsNotCalledSeveral) {
  const LogCapture log;
  const ScopedEnvironment one({{"MILLRACE_NRT_CORES", "1"}, {"NEURON_RT_NUM_CORES", "2"}});
  EXPECT_EQ(init(), NRT_INVALID);
  EXPECT_EQ(log.count("there is 1 logical core "), 1u);
}

TEST_F(Environment, SizesAreWrittenAsPeopleWriteThem) {
  for (const char* size : {"2M", "2m", "2MB", "2mb", "2MiB", "2097152"}) {
    const ScopedEnvironment memory("MILLRACE_NRT_MEMORY", size);
    ASSERT_EQ(init(), NRT_SUCCESS) << size;
    nrt_vnc_memory_stats_t stats{};
    EXPECT_EQ(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, nullptr), NRT_SUCCESS);
    EXPECT_EQ(stats.bytes_limit, 2u << 20) << size;
    nrt_close();
  }
}

}  // namespace
}  // namespace millrace::test
