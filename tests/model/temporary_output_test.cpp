#include "model/files/temporary_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

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
