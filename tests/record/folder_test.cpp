// The files of a record: each content once, up to a limit.
#include "record/folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace millrace::record {
namespace {

using ::testing::HasSubstr;

class FolderTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kLimit = 16'384;

  FolderTest() { EXPECT_TRUE(folder_.create(path_, kLimit).ok()); }

  const test::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("a/record");
  Folder folder_;
};

TEST_F(FolderTest, KeepsEachContentOnce) {
  const std::vector<std::byte> zeros(600), ones(100, std::byte{1});
  const std::string name = *folder_.keep("tensors", zeros);
  EXPECT_EQ(std::filesystem::file_size(path_ + "/" + name), zeros.size());
  EXPECT_EQ(*folder_.keep("tensors", zeros), name);
  EXPECT_NE(*folder_.keep("tensors", ones), name);
}

TEST_F(FolderTest, TakesNoMoreThanItsLimit) {
  const Status status = folder_.keep("tensors", std::vector<std::byte>(kLimit + 1)).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("MILLRACE_RECORD_LIMIT"));
  // A small file takes a block of the disk, too.
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(folder_.keep("tensors", std::vector<std::byte>(i)).ok());
  EXPECT_EQ(folder_.keep("tensors", std::vector<std::byte>(4)).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(folder_.append({{"model", std::string(3000, 'm')}}).code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(folder_.append_last({{"ended", "full"}}).ok());
}

TEST_F(FolderTest, ThreadsThatKeepEqualContentsGetWholeFiles) {
  const std::vector<std::byte> bytes(300, std::byte{7});
  const auto keep = [&] {
    const std::string file = path_ + "/" + *folder_.keep("tensors", bytes);
    EXPECT_EQ(std::filesystem::file_size(file), bytes.size());
  };
  std::thread other(keep);
  keep();
  other.join();
  using std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(directory_iterator(path_ + "/tensors"), directory_iterator()), 1);
}

TEST_F(FolderTest, IsOfOneRecord) {
  Folder other;
  EXPECT_THAT(other.create(path_, kLimit).message(), HasSubstr("has a record already"));
}

}  // namespace
}  // namespace millrace::record
