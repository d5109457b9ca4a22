// Tests what misspelt options and commands are taken for.
#include "cli/arguments/suggestion.h"

#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using cli::did_you_mean;
using cli::nearest_to;

const std::vector<std::string> kOptions = {
    "--calibrate", "--scale", "--mean", "--time-limit", "--calibrate-samples", "-o", "--output"};

TEST(Suggestion, FindsLettersThatAreMissingWrongOrExchanged) {
  EXPECT_EQ(nearest_to("--calibrte", kOptions), "--calibrate");
  EXPECT_EQ(nearest_to("--caliprate", kOptions), "--calibrate");
  EXPECT_EQ(nearest_to("--sclae", kOptions), "--scale");
  EXPECT_EQ(nearest_to("--timelimit", kOptions), "--time-limit");
  EXPECT_EQ(nearest_to("-mean", kOptions), "--mean");
}

TEST(Suggestion, FindsTheBeginningOfAWord) {
  EXPECT_EQ(nearest_to("--calib", kOptions), "--calibrate");
  EXPECT_EQ(nearest_to("--outputs", kOptions), "--output");
}

TEST(Suggestion, NothingIsNearToWhatIsFar) {
  EXPECT_EQ(nearest_to("--verbose", kOptions), "");
  EXPECT_EQ(did_you_mean("--verbose", kOptions), "");
  EXPECT_EQ(did_you_mean("--scal", kOptions), "; did you mean --scale?");
}

}  // namespace
}  // namespace millrace::test
