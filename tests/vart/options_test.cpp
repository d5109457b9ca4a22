#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>
#include <string_view>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class OptionsTest : public RunnerTest {
 protected:
  std::string refusal(const std::string& key, std::any payload) {
    return refusal(Options{{key, std::move(payload)}});
  }
  template <class Error = std::runtime_error>
  std::string refusal(const Options& options) {
    try {
      RunnerFactory::create_runner(RunnerType::VAIML, path_, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::string path_ = model();
};

TEST_F(OptionsTest, TakesWhatSamplesPass) {
  const Options options = {{"input_tensor_type", std::string("HW")},
                           {"output_tensor_type", std::string("CPU")},
                           {"skip_in_bo_sync", false},
                           {"skip_out_bo_sync", true},
                           {"cma_index", int32_t{0}},
                           {"aie_columns_sharing", true},
                           {"start_column", uint32_t{32}},
                           {"async_threadpool_depth", 10u},
                           {"max_concurrent_runs", 2u},
                           {"callback_order", std::string("completion")},
                           {"job_mode", std::string("latency")},
                           {"log_level", std::string("WARNING")},
                           {"debug", false},
                           {"config_json", std::string("")},
                           {"cache_path", std::string("")},
                           {"shape_profile", std::string("")},
                           {"ai_analyzer_profiling", false},
                           {"enable_xrt_run_pool", true},
                           {"name", std::string("mine")},
                           {"input_tensor_type.data", std::string("CPU")},
                           {"output_tensor_type.probs", std::string("HW")}};
  EXPECT_NE(make_runner(options), nullptr);
}

TEST_F(OptionsTest, TakesIntegersOfEveryWidth) {
  for (const std::any& payload :
       std::vector<std::any>{char{3}, int8_t{3}, uint8_t{3}, int16_t{3}, uint16_t{3}, 3, 3u, 3L,
                             3UL, 3LL, 3ULL, size_t{3}})
    EXPECT_EQ(refusal("max_concurrent_runs", payload), "accepted") << payload.type().name();
}

TEST_F(OptionsTest, TakesBoolOrIntegerForSwitches) {
  for (const std::any& payload : std::vector<std::any>{true, 0, 1u, size_t{1}, uint8_t{0}})
    EXPECT_EQ(refusal("aie_columns_sharing", payload), "accepted") << payload.type().name();
}

TEST_F(OptionsTest, TakesEveryKindOfString) {
  char text[] = "hw";
  for (const std::any& payload :
       std::vector<std::any>{std::string("cpu"), static_cast<const char*>("CPU"),
                             std::string_view("HW"), static_cast<char*>(text)})
    EXPECT_EQ(refusal("input_tensor_type", payload), "accepted") << payload.type().name();
}

TEST_F(OptionsTest, RefusesBadPayloadsWithTheReason) {
  const auto expect = [&](const char* key, std::any payload, const char* reason) {
    EXPECT_THAT(refusal(key, std::move(payload)), AllOf(HasSubstr(key), HasSubstr(reason)));
  };
  expect("output_tensor_type", 1, "string");
  expect("input_tensor_type", static_cast<const char*>(nullptr), "string");
  expect("max_concurrent_runs", 0, "from 1");
  expect("max_concurrent_runs", -1, "from 1");
  expect("max_concurrent_runs", std::numeric_limits<uint64_t>::max(), "to 65536");
  expect("max_concurrent_runs", std::string("2"), "integer");
  expect("max_concurrent_runs", 2.0, "integer");
  expect("async_threadpool_depth", 0, "from 1 to 65536");
  expect("async_threadpool_depth", std::numeric_limits<uint64_t>::max(), "to 65536");
  expect("callback_order", std::string("random"), "submission");
  expect("job_mode", std::string("fast"), "adaptive, latency, throughput");
  expect("start_column", 33, "to 32");
  expect("cma_index", -1, "from 0");
  expect("log_level", std::string("LOUD"), "DEBUG");
  expect("debug", std::string("true"), "bool");
  expect("skip_in_bo_sync", std::any(), "bool");
  expect("config_json", 5, "string");
}

TEST_F(OptionsTest, AViewThatDoesNotExistIsAnInvalidArgument) {
  for (const char* key : {"input_tensor_type", "output_tensor_type", "input_tensor_type.data"})
    EXPECT_THAT(refusal<std::invalid_argument>(Options{{key, std::string("GPU")}}),
                AllOf(HasSubstr(key), HasSubstr("\"GPU\""), HasSubstr("CPU, HW")));
}

TEST_F(OptionsTest, TakesTheShortNameOfALogLevelAsTheVariableDoes) {
  EXPECT_EQ(refusal("log_level", "warn"), "accepted");
}

TEST_F(OptionsTest, ARefusalShowsWhatWasGiven) {
  const auto expect = [&](const char* key, std::any payload, const char* message) {
    EXPECT_EQ(refusal(key, std::move(payload)), message);
  };
  expect("async_threadpool_depth", "4",
         "option \"async_threadpool_depth\" takes an integer from 1 to 65536, not \"4\"");
  expect("max_concurrent_runs", 2.5,
         "option \"max_concurrent_runs\" takes an integer from 1 to 65536, not 2.5");
  expect("max_concurrent_runs", true,
         "option \"max_concurrent_runs\" takes an integer from 1 to 65536, not true");
  expect("max_concurrent_runs", std::numeric_limits<uint64_t>::max(),
         "option \"max_concurrent_runs\" takes an integer from 1 to 65536, not "
         "18446744073709551615");
  expect("cma_index", std::numeric_limits<uint64_t>::max(),
         "option \"cma_index\" takes an integer from 0 to 4294967295, not 18446744073709551615");
  expect("cma_index", 4294967296,
         "option \"cma_index\" takes an integer from 0 to 4294967295, "
         "not 4294967296");
  expect("cma_index", 1000, "option \"cma_index\": there is no memory bank 1000: banks are 0 to 3");
  expect("log_level", 7, "option \"log_level\" takes a string, not 7");
  expect("debug", std::any(), "option \"debug\" takes a bool, not an empty payload");
  expect("name", std::vector<int>(),
         "option \"name\" takes a string, not a payload of type "
         "std::vector<int, std::allocator<int> >");
}

TEST_F(OptionsTest, TakesEveryMemoryBank) {
  for (const std::any& payload : std::vector<std::any>{0, 1u, 2L, size_t{3}})
    EXPECT_EQ(refusal("cma_index", payload), "accepted") << payload.type().name();
}

TEST_F(OptionsTest, IgnoresTypesOfTensorsThatAreNotThereButSaysSo) {
  const test::LogCapture log;
  EXPECT_EQ(refusal("input_tensor_type.nosuch", "CPU"), "accepted");
  EXPECT_EQ(refusal("output_tensor_type.data", "CPU"), "accepted");
  EXPECT_THAT(log.lines(), Contains(HasSubstr("input_tensor_type.nosuch")));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("output_tensor_type.data")));
}

TEST_F(OptionsTest, APerTensorTypeTakesPrecedenceOverTheCommonOne) {
  const std::string path = model({.hw_views = false});
  EXPECT_NE(RunnerFactory::create_runner(
                RunnerType::VAIML, path,
                {{"input_tensor_type.data", "CPU"}, {"output_tensor_type.probs", "CPU"}}),
            nullptr);
}

TEST_F(OptionsTest, IgnoresUnknownKeysButSaysSo) {
  const test::LogCapture log;
  EXPECT_EQ(refusal({{"ai_analyzer_visualization", true}}), "accepted");
  EXPECT_THAT(log.lines(),
              Contains(AllOf(HasSubstr("WARNING"), HasSubstr("ai_analyzer_visualization"))));
}

TEST_F(OptionsTest, IgnoresNamesOfALanguageModelButSaysSo) {
  const test::LogCapture log;
  EXPECT_EQ(refusal("logits_name", "scores"), "accepted");
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("WARNING"), HasSubstr("logits_name"),
                                          HasSubstr("are ignored"))));
}

}  // namespace
}  // namespace millrace::vartml
