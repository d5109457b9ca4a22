// The names of classes that `millrace run --labels` reads: any line ends, any length of the list.
#include <gmock/gmock.h>

#include <fstream>

#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "tests/cli/cli_fixture.h"
#include "tests/support/relu_model.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr size_t kLabelledClasses = 300, kFirst = 290, kSecond = 7;

class LabelsTest : public CliTest {
 protected:
  // Returns what is printed for an input whose largest values are those of kFirst and kSecond.
  std::string top_two(size_t labels, const std::string& line_end) const {
    const graph::CompiledModel model = relu_model({{"scores", {1, kLabelledClasses}}});
    EXPECT_TRUE(
        model::write_archive(graph::encode(model), file("scores.rai"), model::ArchiveForm::kFile)
            .ok());
    std::vector<float> scores(kLabelledClasses);
    scores[kFirst] = 3;
    scores[kSecond] = 2;
    std::ofstream(file("scores.bin"), std::ios::binary)
        .write(reinterpret_cast<const char*>(scores.data()), sizeof(float) * kLabelledClasses);
    std::ofstream text(file("labels.txt"), std::ios::binary);
    for (size_t i = 0; i < labels; ++i) text << "class " << i << line_end;
    text.close();
    const ProgramResult result = millrace({"run", file("scores.rai"), "--input", file("scores.bin"),
                                           "--top", "2", "--labels", file("labels.txt")});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_F(LabelsTest, ClassesBeyondAByteKeepTheirNames) {
  const std::string out = top_two(kLabelledClasses, "\n");
  EXPECT_THAT(out, HasSubstr("  1. 290 3  class 290\n"));
  EXPECT_THAT(out, HasSubstr("  2. 7 2  class 7\n"));
}

TEST_F(LabelsTest, AListThatIsTooShortLeavesTheRestWithoutNames) {
  const std::string out = top_two(10, "\n");
  EXPECT_THAT(out, HasSubstr("  1. 290 3\n"));
  EXPECT_THAT(out, HasSubstr("  2. 7 2  class 7\n"));
}

TEST_F(LabelsTest, CarriageReturnsAreNoPartOfAName) {
  const std::string out = top_two(kLabelledClasses, "\r\n");
  EXPECT_THAT(out, HasSubstr("  1. 290 3  class 290\n"));
  EXPECT_THAT(out, Not(HasSubstr("\r")));
}

}  // namespace
}  // namespace millrace::test
