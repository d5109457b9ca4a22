#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

TEST_F(CliTest, EnvNamesTheLibrariesOfThisBuild) {
  const ProgramResult result = millrace({"env"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("export LD_LIBRARY_PATH='"));
  EXPECT_THAT(result.out, HasSubstr("/lib/pkgconfig"));
}

TEST_F(CliTest, BenchReportsLatencyAndThroughput) {
  const ProgramResult result =
      millrace({"bench", compiled("glyphs.rai"), "-n", "5", "--warmup", "1", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto figures = nlohmann::json::parse(result.out);
  EXPECT_GT(figures["latency_ms"]["median"], 0.0);
  EXPECT_GT(figures["frames_per_second"], 0.0);
  EXPECT_EQ(result.err, "") << "progress must not be shown when piped";
}

}  // namespace
}  // namespace millrace::test
