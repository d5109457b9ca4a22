// Programs run with closed standard streams: no file that Millrace opens gets their numbers, and no
// line of the log is written into it.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/security/face_process.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ClosedStreams : public ::testing::TestWithParam<int> {
 protected:
  // Bit N says whether number N is closed.
  std::vector<int> closed() const {
    std::vector<int> numbers;
    for (int number = 0; number <= 2; ++number)
      if ((GetParam() >> number & 1) != 0) numbers.push_back(number);
    return numbers;
  }

  TemporaryDirectory directory_;
};

TEST_P(ClosedStreams, StayClosedAndGetNoLine) {
  const std::string table = directory_.file("columns");
  const FaceResult result = run_face_program({.variables = {{"MILLRACE_COLUMN_TABLE", table},
                                                            {"MILLRACE_LOG", "debug"},
                                                            {"MILLRACE_DEVICE", "null"}},
                                              .closed = closed()},
                                             directory_);
  EXPECT_EQ(result.exit_code, 0) << result.report;
  std::string expected;
  for (const int number : closed()) expected += "closed " + std::to_string(number) + "\n";
  EXPECT_EQ(result.report, expected);
  EXPECT_THAT(content_of(table), Not(HasSubstr("] ")));
  EXPECT_THAT(result.out, IsEmpty());
  if ((GetParam() & 4) == 0) {
    EXPECT_THAT(result.err, HasSubstr("[ERROR] vart: "));
    EXPECT_THAT(result.err, HasSubstr("[ERROR] nrt: "));
  }
}

INSTANTIATE_TEST_SUITE_P(EachCombination, ClosedStreams, ::testing::Range(0, 8));

}  // namespace
}  // namespace millrace::test
