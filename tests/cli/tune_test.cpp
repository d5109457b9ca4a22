// millrace tune, as a user calls it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TuneTest : public CliTest {
 protected:
  std::string text_of(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(TuneTest, WritesARecordAndSaysWhatItBrings) {
  const ProgramResult result =
      millrace({"tune", compiled("glyphs.rai"), "-o", file("times"), "--runs", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("convolutions chosen by their times"),
                                HasSubstr("latency with the usual kernels")));
  EXPECT_THAT(text_of(file("times")), AllOf(HasSubstr("fingerprint\t"), HasSubstr("conv\t")));
}

TEST_F(TuneTest, TheRecordLiesBesideTheModel) {
  const std::string model = compiled("glyphs.rai");
  ASSERT_EQ(millrace({"tune", model, "--runs", "1"}).exit_code, 0);
  EXPECT_THAT(text_of(model + ".tuning"), HasSubstr("conv\t"));
}

// Not in it, where it would become part of the archive.
TEST_F(TuneTest, TheRecordLiesBesideADirectory) {
  const std::string model = compiled("glyphs", {"--format", "dir"});
  ASSERT_EQ(millrace({"tune", model + "/", "--runs", "1"}).exit_code, 0);
  EXPECT_THAT(text_of(model + ".tuning"), HasSubstr("conv\t"));
  ASSERT_EQ(millrace({"tune", model + "/.", "--runs", "1"}).exit_code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(model))
    EXPECT_NE(entry.path().extension(), ".tuning") << entry.path();
}

TEST_F(TuneTest, AModelWithoutConvolutionsHasNothingToTune) {
  const std::string model = compiled("glyphs.rai", {"--cpu-ops", "Conv"});
  expect_failure(millrace({"tune", model}), "there is nothing to tune");
  EXPECT_FALSE(std::filesystem::exists(model + ".tuning"));
}

TEST_F(TuneTest, ARecordThatCannotBeUsedIsAnErrorAndStays) {
  std::ofstream(file("times")) << "something else\n";
  expect_failure(millrace({"tune", compiled("glyphs.rai"), "-o", file("times")}),
                 file("times") + " cannot be used");
  EXPECT_EQ(text_of(file("times")), "something else\n");
}

}  // namespace
}  // namespace millrace::test
