// A record may come from a stranger: whatever it says, `millrace replay` ends with a reason, and
// reads nothing outside the folder.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "tests/record/recorded_program.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class HostileRecordTest : public RecordedProgram {
 protected:
  HostileRecordTest() {
    run_jobs();
    lines_ = lines();
  }
  // Replaces what matches first, and expects a failure with the reason.
  void expect_failure(const std::string& pattern, const std::string& with,
                      const std::string& reason) const {
    const std::string changed = std::regex_replace(lines_, std::regex(pattern), with,
                                                   std::regex_constants::format_first_only);
    ASSERT_NE(changed, lines_) << pattern;
    write_lines(changed);
    const ProgramResult result = replay();
    EXPECT_EQ(result.exit_code, 1) << pattern << result.out;
    EXPECT_THAT(result.err, HasSubstr(reason)) << pattern;
  }

  std::string lines_;
};

TEST_F(HostileRecordTest, NamesOutsideTheFolderAreRefused) {
  const std::string reason = "is no name of a file of a record";
  expect_failure(R"("file":"tensors/)", R"("file":"../tensors/)", reason);
  expect_failure(R"("file":"[^"]*")", R"("file":"/etc/passwd")", reason);
  expect_failure(R"("archive":"models/)", R"("archive":"tensors/../models/)", reason);
}

TEST_F(HostileRecordTest, WrongNumbersAreRefused) {
  expect_failure(R"("frames":1)", R"("frames":4000000000)", "do not fit model");
  expect_failure(R"("frames":1)", R"("frames":-1)", "\"frames\" is no number");
  expect_failure(R"(("started":1,.*?"bytes":)[0-9]+)", "$0118446744073709551615",
                 "and in the model 192");
  expect_failure(R"("ns":[0-9]+)", R"("ns":1e300)", "\"ns\" is no number");
  expect_failure(R"("submitted":2)", R"("submitted":1)", "job 1 is out of order");
  expect_failure(R"("submitted":1,"model":1)", R"("submitted":1,"model":77)", "no model 77");
  expect_failure(R"("version":1)", R"("version":2)", "has version 2");
}

TEST_F(HostileRecordTest, OtherTextIsRefused) {
  expect_failure(R"(\{"format")", "[\n{\"format\"", "line 1: it is no object of JSON");
  expect_failure("millrace-record", "other", "this is not a record");
  expect_failure(R"("inputs":\[)", R"("inputs":7,"x":[)", "\"inputs\" is no list of tensors");
}

TEST_F(HostileRecordTest, MissingAndLinkedFilesAreRefused) {
  namespace fs = std::filesystem;
  fs::rename(folder() + "/tensors", directory_.file("elsewhere"));
  EXPECT_THAT(replay().err, HasSubstr("is missing, or no regular file"));
  fs::create_directory_symlink(directory_.file("elsewhere"), folder() + "/tensors");
  EXPECT_THAT(replay().err, HasSubstr("is missing, or no regular file"));
  fs::remove(lines_file());
  EXPECT_THAT(replay().err, HasSubstr("has no record.jsonl"));
}

}  // namespace
}  // namespace millrace::test
