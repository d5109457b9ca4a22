// The log: its level, its destination, and its lines in a run in which nothing fails.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "nrt/nrt_experimental.h"
#include "nrt/nrt_sys_trace.h"
#include "nrt/nrt_version.h"
#include "tests/nrt/fresh_process.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"

// Replaces the function of the system, and prints its arguments.
extern "C" void syslog(int priority, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  dprintf(STDERR_FILENO, "syslog %d ", priority);
  vdprintf(STDERR_FILENO, format, arguments);
  dprintf(STDERR_FILENO, "\n");
  va_end(arguments);
}

namespace millrace::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

void start_runtime() {
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
}

// One warning, and the same error twice.
void make_noise(const char* level) {
  if (level != nullptr) setenv("NEURON_RT_LOG_LEVEL", level, 1);
  setenv("MILLRACE_DEVICE", "null", 1);
  setenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4", 1);
  for (int round = 0; round < 2; ++round) {
    start_runtime();
    EXPECT_EQ(nrt_unload(nullptr), NRT_INVALID_HANDLE);
    nrt_close();
  }
}

TEST(LogLevel, IsWarningsOnStandardErrorByDefault) {
  EXPECT_FRESH(make_noise(nullptr), AllOf(ContainsRegex("implicit asynchronous mode"),
                                          ContainsRegex("nrt_unload"), Not(HasSubstr("INFO"))));
}

TEST(LogLevel, OfErrorsLeavesOutWarnings) {
  EXPECT_FRESH(make_noise("error"), AllOf(HasSubstr("nrt_unload"), Not(HasSubstr("implicit"))));
}

// Three calls fail for one reason, another for its own.
void fail_again() {
  setenv("MILLRACE_DEVICE", "null", 1);
  start_runtime();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(nrt_unload(nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_allocate_tensor_set(nullptr), NRT_INVALID);
  nrt_close();
}

TEST(LogOfErrors, IsOncePerReasonWhereNoLevelIsAskedFor) {
  EXPECT_FRESH(fail_again(), AllOf(HasSubstr("nrt_allocate_tensor_set"), HasSubstr("nrt_unload"),
                                   Not(ContainsRegex("nrt_unload[^~]*nrt_unload"))));
}

// These work without the runtime.
void pass_null_at_any_time() {
  EXPECT_EQ(nrt_get_version(nullptr, 8), NRT_INVALID);
  EXPECT_EQ(nrt_get_instance_info(nullptr, 8), NRT_INVALID);
  EXPECT_EQ(nrt_set_pool_eng_ucode(nullptr), NRT_INVALID);
  nrt_sys_trace_fetch_options_set_nc_idx(nullptr, 0);
}

TEST(LogOfErrors, IncludesCallsThatWorkAtAnyTime) {
  EXPECT_FRESH(pass_null_at_any_time(),
               AllOf(HasSubstr("nrt_get_version"), HasSubstr("nrt_get_instance_info"),
                     HasSubstr("nrt_set_pool_eng_ucode"),
                     HasSubstr("nrt_sys_trace_fetch_options_set_nc_idx")));
}

TEST(LogOfErrors, IsCompleteAtALevelThatIsAskedFor) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LEVEL", "ERROR", 1);
        fail_again();
      },
      ContainsRegex("nrt_unload[^~]*nrt_unload[^~]*nrt_unload"));
}

TEST(LogOfErrors, MayBeSilencedAtBothFaces) {
  EXPECT_FRESH(
      {
        setenv("MILLRACE_LOG", "off", 1);
        make_noise("DEBUG");
      },
      Not(ContainsRegex("ERROR|WARNING")));
}

TEST(LogLevel, OfTheRuntimeAloneTakesPrecedence) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LEVEL_NRT", "ERROR", 1);
        make_noise("QUIET");
      },
      AllOf(HasSubstr("nrt_unload"), Not(HasSubstr("implicit"))));
}

TEST(LogLevel, MayBeQuiet) {
  for (const char* level : {"QUIET", "off", "None"}) {
    SCOPED_TRACE(level);
    EXPECT_FRESH(make_noise(level), Not(HasSubstr("nrt_unload")));
  }
}

TEST(LogLevel, HasTheUsualSpellings) {
  for (const char* level : {"WARN", "warning", "Info", "TRACE"}) {
    SCOPED_TRACE(level);
    EXPECT_FRESH(make_noise(level), AllOf(HasSubstr("implicit asynchronous mode"),
                                          Not(HasSubstr("NEURON_RT_LOG_LEVEL is"))));
  }
}

TEST(LogLevel, ThatDoesNotExistIsWarnedOfOnceAndMeansWarnings) {
  const std::string warning = "NEURON_RT_LOG_LEVEL is \"loud\"";
  EXPECT_FRESH(make_noise("loud"), AllOf(HasSubstr(warning), HasSubstr("implicit"),
                                         Not(ContainsRegex(warning + "[^~]*" + warning))));
}

// A new process runs its test from the beginning: it finds the file of the test that started it in
// the environment.
constexpr const char* kPathVariable = "LOG_TEST_PATH";

class LogLocationFile : public testing::Test {
 protected:
  LogLocationFile() {
    if (const char* inherited = std::getenv(kPathVariable)) {
      path_ = inherited;
      return;
    }
    directory_.emplace();
    path_ = directory_->file("log");
    setenv(kPathVariable, path_.c_str(), 1);
  }
  ~LogLocationFile() override { unsetenv(kPathVariable); }
  std::string lines() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::optional<TemporaryDirectory> directory_;
  std::string path_;
};

TEST_F(LogLocationFile, GetsTheLinesInsteadOfStandardError) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LOCATION_NRT", path_.c_str(), 1);
        make_noise("WARNING");
      },
      Not(HasSubstr("nrt_unload")));
  const std::string line = "\\[ERROR\\] nrt: nrt_unload[^~]*";
  EXPECT_THAT(lines(), AllOf(ContainsRegex(line + line), HasSubstr("implicit")));
}

TEST_F(LogLocationFile, ThatCannotBeOpenedIsWarnedOfOnce) {
  const std::string warning = "NEURON_RT_LOG_LOCATION_NRT: [^~]*No such file";
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LOCATION_NRT", (path_ + "/in/none").c_str(), 1);
        make_noise("WARNING");
      },
      AllOf(ContainsRegex(warning), HasSubstr("nrt_unload"),
            Not(ContainsRegex(warning + "[^~]*" + warning))));
}

// Neither without a reader, which opening it would wait for, nor after the reader has gone.
TEST_F(LogLocationFile, MayBeAFifoThatNobodyReads) {
  ::mkfifo(path_.c_str(), 0600);
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LOCATION_NRT", path_.c_str(), 1);
        make_noise("WARNING");
        ::close(::open(path_.c_str(), O_RDONLY | O_NONBLOCK));
        EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
        EXPECT_EQ(nrt_allocate_tensor_set(nullptr), NRT_INVALID);
        nrt_close();
      },
      Not(HasSubstr("nrt_unload")));
  std::filesystem::remove(path_);
}

TEST(LogLocation, ThatDoesNotExistIsStandardError) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LOCATION", "printer", 1);
        make_noise("WARNING");
      },
      AllOf(HasSubstr("NEURON_RT_LOG_LOCATION is \"printer\""), HasSubstr("nrt_unload")));
}

TEST(LogLocation, MayBeTheSystemLog) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_LOG_LOCATION", "syslog", 1);
        make_noise("WARNING");
      },
      AllOf(HasSubstr("syslog " + std::to_string(LOG_USER | LOG_ERR) + " nrt: nrt_unload"),
            ContainsRegex("syslog " + std::to_string(LOG_USER | LOG_WARNING) + " nrt: .*implicit"),
            Not(HasSubstr("[ERROR]"))));
}

void come_too_early() {
  setenv("MILLRACE_DEVICE", "null", 1);
  bool completed = false;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(nrta_is_completed(1, &completed), NRT_UNINITIALIZED);
}

TEST(LogOfRefusals, SaysOnceThatNothingHasStarted) {
  EXPECT_FRESH(come_too_early(),
               AllOf(HasSubstr("nrta_is_completed: NRT_UNINITIALIZED: nrt_init has not been"),
                     Not(ContainsRegex("UNINITIALIZED[^~]*UNINITIALIZED"))));
}

TEST(LogOfRefusals, SaysOnceThatTheRuntimeWasClosed) {
  EXPECT_FRESH(
      {
        come_too_early();
        start_runtime();
        nrt_close();
        nrta_seq_t sequence = 0;
        for (int i = 0; i < 3; ++i)
          EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &sequence), NRT_CLOSED);
      },
      AllOf(HasSubstr("nrt_init has not been"),
            HasSubstr("nrta_get_sequence: NRT_CLOSED: nrt_close has ended the runtime"),
            Not(ContainsRegex("CLOSED[^~]*CLOSED"))));
}

TEST(LogOfRefusals, IsThereForWhatMayBeAskedWithoutARuntime) {
  EXPECT_FRESH(
      {
        setenv("NEURON_RT_NUM_CORES", "some", 1);
        uint32_t count = 0;
        EXPECT_EQ(nrt_get_visible_vnc_count(&count), NRT_INVALID);
      },
      "nrt_get_visible_vnc_count: NRT_INVALID: NEURON_RT_NUM_CORES is \"some\"");
}

// A run on two cores in which nothing fails.
class LogOfARun : public testing::Test {
 protected:
  ~LogOfARun() override { nrt_close(); }
  const ScopedEnvironment environment_{{{"MILLRACE_NRT_CORES", "4"},
                                        {"NEURON_RT_VISIBLE_CORES", "2-3"},
                                        {"MILLRACE_NRT_MEMORY", "3M"},
                                        {"MILLRACE_DEVICE", "null"},
                                        {"MILLRACE_FAULTS", "slow=1ns"}}};
};

TEST_F(LogOfARun, SaysWhatHasStarted) {
  const LogCapture log(LogLevel::kInfo);
  start_runtime();
  for (const char* what : {"nrt_init: Millrace ", "device faulty-null, lanes ", "cores 2 to 3 of 4",
                           "memory of each 3.0 MiB", "MILLRACE_FAULTS=slow=1ns"})
    EXPECT_EQ(log.count(what), 1u) << what;
  EXPECT_EQ(log.lines().size(), 1u);
}

TEST_F(LogOfARun, NamesModelsThatComeAndGo) {
  start_runtime();
  const LogCapture log(LogLevel::kInfo);
  const std::vector<std::byte> bytes = tiny_archive();
  nrt_model_t* model = nullptr;
  ASSERT_EQ(nrt_load(bytes.data(), bytes.size(), 1, 1, &model), NRT_SUCCESS);
  ASSERT_EQ(nrt_unload(model), NRT_SUCCESS);
  EXPECT_EQ(log.count("nrt_load: model \"tiny\" on core 1, weights of "), 1u);
  EXPECT_EQ(log.count("nrt_unload: model \"tiny\" on core 1"), 1u);
}

TEST_F(LogOfARun, NamesVariablesWithoutEffect) {
  const LogCapture log(LogLevel::kInfo);
  const ScopedEnvironment others({{"NEURON_RT_VIRTUAL_CORE_SIZE", "1"},
                                  {"NEURON_SCRATCHPAD_PAGE_SIZE", "256"},
                                  {"NEURON_RT_NUM_CORE", "2"},
                                  {"NEURON_RT_EXEC_TIMEOUT", "5"},
                                  {"NEURON_RT_INSPECT_ENABLE", "0"},
                                  {"NEURON_RT_RESET_CORES", ""},
                                  {"MILLRACE_WATCHDOGG", "1s"}});
  start_runtime();
  EXPECT_EQ(log.count("INFO set, but without effect here: NEURON_RT_VIRTUAL_CORE_SIZE, "
                      "NEURON_SCRATCHPAD_PAGE_SIZE"),
            1u);
  EXPECT_EQ(log.count("WARNING set, but no published variable of the runtime (is it misspelt?): "
                      "NEURON_RT_NUM_CORE"),
            1u);
  EXPECT_EQ(log.count("WARNING set, but nothing reads it (is it misspelt?): "
                      "MILLRACE_WATCHDOGG"),
            1u);
  nrt_close();
  start_runtime();
  EXPECT_EQ(log.count("MILLRACE_WATCHDOGG"), 1u) << "one warning per process";
  EXPECT_EQ(log.count("NEURON_RT_NUM_CORE"), 1u) << "likewise";
  EXPECT_EQ(log.count("NEURON_RT_EXEC_TIMEOUT"), 0u);
  EXPECT_EQ(log.count("NEURON_RT_RESET_CORES"), 0u);
}

}  // namespace
}  // namespace millrace::test
