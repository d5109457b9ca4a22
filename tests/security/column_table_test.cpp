// Tests the file of the column table, where a variable names something other than a table.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/security/face_process.h"
#include "tests/support/another_user.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class TableOfColumns : public ::testing::Test {
 protected:
  // Returns what the log says of the table; the program itself must work without one.
  std::string log_with_table() {
    const FaceResult result = run_face_program({.variables = {{"MILLRACE_COLUMN_TABLE", path_},
                                                              {"MILLRACE_LOG", "warning"},
                                                              {"MILLRACE_DEVICE", "null"}}},
                                               directory_);
    EXPECT_EQ(result.exit_code, 0) << result.report;
    return result.err;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("columns");
};

TEST_F(TableOfColumns, IsMadeWhereThereIsNone) {
  EXPECT_EQ(log_with_table().find("columns"), std::string::npos);
  EXPECT_EQ(content_of(path_).size() % 256, 0u);
}

TEST_F(TableOfColumns, LeavesAFileWithSomethingElseAlone) {
  for (const std::string& content : {std::string("precious"), std::string(512, 'x')}) {
    std::ofstream(path_) << content;
    EXPECT_THAT(log_with_table(), HasSubstr("is not a table of columns"));
    EXPECT_EQ(content_of(path_), content);
  }
}

TEST_F(TableOfColumns, IsNoneThatOthersCanWrite) {
  std::ofstream(path_) << "";
  ::chmod(path_.c_str(), 0666);
  EXPECT_THAT(log_with_table(), HasSubstr("may be written by everybody"));
}

TEST_F(TableOfColumns, IsNoneOfAnotherUser) {
  std::ofstream(path_) << "";
  if (!give_to_another_user(path_)) GTEST_SKIP() << "only root can give a file away";
  EXPECT_THAT(log_with_table(), HasSubstr("belongs to user 65534"));
}

TEST_F(TableOfColumns, IsNoDevice) {
  if (!make_device(path_, Node::kNull)) GTEST_SKIP() << "only root can make a device";
  EXPECT_THAT(log_with_table(), HasSubstr("not a regular file"));
  EXPECT_TRUE(is_device(path_));
}

}  // namespace
}  // namespace millrace::test
