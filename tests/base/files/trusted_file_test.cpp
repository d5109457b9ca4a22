#include "base/files/trusted_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/another_user.h"
#include "tests/support/temporary_directory.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TrustedFile : public testing::Test {
 protected:
  TrustedFile() {
    fs::create_directory(folder_);
    std::ofstream(path_) << "content";
    ::chmod(folder_.c_str(), 0755);
    ::chmod(path_.c_str(), 0644);
  }

  std::string complaint() const { return check_trusted_path(path_).message(); }

  test::TemporaryDirectory directory_;
  const std::string folder_ = directory_.file("folder");
  const std::string path_ = folder_ + "/file";
};

TEST_F(TrustedFile, IsOneThatOnlyTheUserCanWrite) {
  EXPECT_EQ(complaint(), "");
  EXPECT_TRUE(check_trusted_path(folder_ + "/none").ok());
  EXPECT_TRUE(check_trusted_path("/bin/sh").ok()) << "root's is trusted, too";
}

TEST_F(TrustedFile, IsNoneThatEverybodyCanWriteOrReplace) {
  ::chmod(path_.c_str(), 0646);
  EXPECT_THAT(complaint(),
              testing::AllOf(HasSubstr(path_), HasSubstr("everybody"), HasSubstr("chmod go-w")));
  ::chmod(path_.c_str(), 0644);
  ::chmod(folder_.c_str(), 0757);
  EXPECT_THAT(complaint(), HasSubstr(folder_ + " may be written by everybody"));
}

// In such a folder, nobody else can remove or rename the file.
TEST_F(TrustedFile, MayLieInAStickyFolder) {
  ::chmod(folder_.c_str(), 01777);
  EXPECT_EQ(complaint(), "");
}

TEST_F(TrustedFile, MayBeWritableForThePrivateGroupOfItsOwnerOnly) {
  ::chmod(path_.c_str(), 0664);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can choose groups";
  EXPECT_EQ(complaint(), "") << "user and group have the same number";
  ASSERT_EQ(::chown(path_.c_str(), 0, 100), 0);
  ::chmod(path_.c_str(), 0664);
  EXPECT_THAT(complaint(), HasSubstr("its group"));
}

TEST_F(TrustedFile, IsNoneOfAnotherUser) {
  if (!test::give_to_another_user(path_)) GTEST_SKIP() << "only root can give a file away";
  EXPECT_THAT(complaint(), HasSubstr("belongs to user 65534"));
}

TEST_F(TrustedFile, IsNoneInAFolderOfAnotherUser) {
  if (!test::give_to_another_user(folder_)) GTEST_SKIP() << "only root can give a folder away";
  EXPECT_THAT(complaint(), HasSubstr(folder_ + " belongs to user 65534"));
  ::chmod(folder_.c_str(), 01777);
  EXPECT_THAT(complaint(), HasSubstr("belongs to user 65534")) << "its owner may remove files";
}

TEST_F(TrustedFile, IsJudgedWhereALinkLeadsAndWhereItLies) {
  const std::string link = directory_.file("link");
  fs::create_symlink(path_, link);
  EXPECT_TRUE(check_trusted_path(link).ok());
  ::chmod(path_.c_str(), 0646);
  EXPECT_FALSE(check_trusted_path(link).ok());
  ::chmod(path_.c_str(), 0644);
  ::chmod(directory_.path().c_str(), 0757);
  EXPECT_FALSE(check_trusted_path(link).ok()) << "anybody can replace the link";
}

}  // namespace
}  // namespace millrace
