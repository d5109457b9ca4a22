// millrace tune, as a user calls it.
#include <gmock/gmock.h>

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

TEST_F(TuneTest, ARecordThatCannotBeUsedIsAnErrorAndStays) {
  std::ofstream(file("times")) << "something else\n";
  expect_failure(millrace({"tune", compiled("glyphs.rai"), "-o", file("times")}),
                 file("times") + " cannot be used");
  EXPECT_EQ(text_of(file("times")), "something else\n");
}

}  // namespace
}  // namespace millrace::test
