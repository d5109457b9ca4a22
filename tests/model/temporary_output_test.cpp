#include "model/files/temporary_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "tests/support/another_user.h"
#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class TemporaryOutputTest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_.file(name); }

  Status write(const std::string& name, std::string_view text) const {
    return write_whole_file(file(name), std::as_bytes(std::span(text)));
  }

  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(file(name)).rdbuf();
    return text.str();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(TemporaryOutputTest, AFileAppearsWhenItIsComplete) {
  auto output = TemporaryFile::create(file("a"));
  ASSERT_TRUE(output.ok()) << output.status().to_string();
  ASSERT_TRUE(output->fill([](const Sink& sink) { return sink({}); }).ok());
  EXPECT_FALSE(fs::exists(file("a")));
  ASSERT_TRUE(output->commit().ok());
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(TemporaryOutputTest, AFileThatFailsLeavesTheOldOneAndNothingElse) {
  ASSERT_TRUE(write("a", "old").ok());
  {
    auto output = TemporaryFile::create(file("a"));
    ASSERT_TRUE(output.ok());
    EXPECT_FALSE(output->fill([](const Sink&) { return internal_error("no bytes"); }).ok());
  }
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
  EXPECT_EQ(content("a"), "old");
}

TEST_F(TemporaryOutputTest, AFileIsReplacedByAnotherOneUnderTheSameName) {
  ASSERT_TRUE(write("a", "old").ok());
  const std::ifstream reader(file("a"));
  ASSERT_TRUE(write("a", "new").ok());
  EXPECT_EQ(content("a"), "new");
  std::ostringstream read;
  read << reader.rdbuf();
  EXPECT_EQ(read.str(), "old") << "who has the old file open keeps it";
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(TemporaryOutputTest, WritesThroughASymbolicLink) {
  ASSERT_TRUE(write("a", "old").ok());
  fs::create_symlink("a", file("link"));
  ASSERT_TRUE(write("link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(content("a"), "new");
}

TEST_F(TemporaryOutputTest, MakesTheFileThatALinkLeadsTo) {
  fs::create_symlink("new", file("link"));
  ASSERT_TRUE(write("link", "text").ok());
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(content("new"), "text");
}

TEST_F(TemporaryOutputTest, ADeviceStaysADevice) {
  if (!test::make_device(file("null"), test::Node::kNull))
    GTEST_SKIP() << "only root can make a device, where the file system has devices";
  EXPECT_TRUE(write("null", "text").ok());
  EXPECT_FALSE(TemporaryFile::create(file("null")).ok()) << "whose file would replace it";
  EXPECT_TRUE(test::is_device(file("null")));
  EXPECT_THAT(names(), UnorderedElementsAre("null"));
}

TEST_F(TemporaryOutputTest, ADeviceThatGetsTheNameMeanwhileStays) {
  auto output = TemporaryFile::create(file("a"));
  ASSERT_TRUE(output.ok());
  ASSERT_EQ(::mkfifo(file("a").c_str(), 0600), 0);
  EXPECT_EQ(output->commit().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(fs::is_fifo(file("a")));
}

TEST_F(TemporaryOutputTest, ALinkOfAnotherUserIsNotFollowed) {
  ASSERT_TRUE(write("precious", "old").ok());
  fs::create_symlink("precious", file("link"));
  if (!test::give_to_another_user(file("link"))) GTEST_SKIP() << "only root can give a file away";
  EXPECT_FALSE(write("link", "new").ok());
  EXPECT_EQ(content("precious"), "old");
  EXPECT_FALSE(TemporaryDirectory::create(file("link")).ok());
}

TEST_F(TemporaryOutputTest, ADirectoryThatIsNotFinishedGoes) {
  {
    const auto output = TemporaryDirectory::create(file("a"));
    ASSERT_TRUE(output.ok()) << output.status().to_string();
    std::ofstream(output->name() + "/part") << "part";
    EXPECT_TRUE(fs::exists(output->name() + "/part"));
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(TemporaryOutputTest, WhatIsLeftGoesWithTheNextOutput) {
  fs::create_directories(file(".millrace-1-0.tmp/part"));
  std::ofstream(file(".millrace-1-1.tmp")) << "part";
  ASSERT_TRUE(write("a", "new").ok());
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(TemporaryOutputTest, WhatIsBeingWrittenStays) {
  std::ofstream(file(".millrace-1-0.tmp")) << "of another process";
  const UniqueFd other(::open(file(".millrace-1-0.tmp").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  const auto output = TemporaryDirectory::create(file("a"));
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(write("b", "new").ok());
  EXPECT_THAT(names(), UnorderedElementsAre("b", ".millrace-1-0.tmp",
                                            fs::path(output->name()).filename().string()));
}

TEST_F(TemporaryOutputTest, OtherNamesAndWhatIsBehindALinkStay) {
  for (const char* name : {".millrace-x.tmp", "millrace-1-0.tmp", ".millrace-1-0.tmp.old", "kept"})
    std::ofstream(file(name)) << "not ours";
  fs::create_symlink("kept", file(".millrace-1-0.tmp"));
  ASSERT_TRUE(write("a", "new").ok());
  EXPECT_THAT(names(), UnorderedElementsAre("a", "kept", ".millrace-1-0.tmp", ".millrace-x.tmp",
                                            "millrace-1-0.tmp", ".millrace-1-0.tmp.old"));
}

TEST_F(TemporaryOutputTest, AFolderThatDoesNotExistIsNamedByTheCode) {
  EXPECT_EQ(write("none/a", "new").code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::model
