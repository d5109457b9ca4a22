#include "model/archive_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/archive.h"
#include "tests/model/small_archive.h"
#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;
using test::SmallArchive;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

Status write(const std::string& path, ArchiveForm form) {
  const SmallArchive small;
  return write_archive(small.content(), path, form);
}

bool opens(const std::string& path) {
  return Archive::open(path).ok();
}

TEST(ArchiveWriter, TheFileHasTheBytesOfTheMemoryForm) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write(directory.file("a.rai"), ArchiveForm::kFile).ok());
  const std::vector<std::byte> bytes = SmallArchive().bytes();
  EXPECT_EQ(content_of(directory.file("a.rai")),
            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

TEST(ArchiveWriter, BothFormsHoldTheSameStructureAndSegments) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write(directory.file("a.rai"), ArchiveForm::kFile).ok());
  ASSERT_TRUE(write(directory.file("a"), ArchiveForm::kDirectory).ok());
  const std::string file = content_of(directory.file("a.rai"));
  const std::string structure = content_of(directory.file("a/vaiml_par_0/structure.bin"));
  const std::string segments = content_of(directory.file("a/vaiml_par_0/segments.bin"));
  EXPECT_EQ(structure.substr(64), file.substr(64, structure.size() - 64));
  EXPECT_EQ(segments, file.substr(file.size() - segments.size()));
  EXPECT_EQ(segments.size(), 192u);
}

TEST(ArchiveWriter, LeavesNothingButTheTarget) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write(directory.file("a.rai"), ArchiveForm::kFile).ok());
  ASSERT_TRUE(write(directory.file("b"), ArchiveForm::kDirectory).ok());
  EXPECT_THAT(names_in(directory.path()), ElementsAre("a.rai", "b"));
  EXPECT_THAT(names_in(directory.file("b")), ElementsAre("vaiml_par_0"));
}

TEST(ArchiveWriter, ReplacesAFile) {
  const test::TemporaryDirectory directory;
  write_text(directory.file("a.rai"), "something else");
  ASSERT_TRUE(write(directory.file("a.rai"), ArchiveForm::kFile).ok());
  EXPECT_TRUE(opens(directory.file("a.rai")));
  EXPECT_THAT(names_in(directory.path()), ElementsAre("a.rai"));
}

TEST(ArchiveWriter, WritesThroughASymbolicLink) {
  const test::TemporaryDirectory directory;
  write_text(directory.file("real.rai"), "old");
  fs::create_symlink("real.rai", directory.file("link.rai"));
  ASSERT_TRUE(write(directory.file("link.rai"), ArchiveForm::kFile).ok());
  EXPECT_TRUE(fs::is_symlink(directory.file("link.rai")));
  EXPECT_TRUE(opens(directory.file("real.rai")));
}

TEST(ArchiveWriter, AcceptsASlashAfterADirectory) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write(directory.file("a/"), ArchiveForm::kDirectory).ok());
  EXPECT_TRUE(opens(directory.file("a/")));
  EXPECT_THAT(names_in(directory.path()), ElementsAre("a"));
}

TEST(ArchiveWriter, WritesToAPathWithoutADirectory) {
  const test::TemporaryDirectory directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  const Status status = write("plain.rai", ArchiveForm::kFile);
  fs::current_path(before);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(names_in(directory.path()), ElementsAre("plain.rai"));
}

TEST(ArchiveWriter, ReplacesAnEarlierArchiveDirectoryAndAnEmptyOne) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory.file("a"));
  ASSERT_TRUE(write(directory.file("a"), ArchiveForm::kDirectory).ok());
  ASSERT_TRUE(
      write_archive({{}, test::small_structure}, directory.file("a"), ArchiveForm::kDirectory)
          .ok());
  EXPECT_TRUE(opens(directory.file("a")));
  EXPECT_EQ(fs::file_size(directory.file("a/vaiml_par_0/segments.bin")), 0u);
  EXPECT_THAT(names_in(directory.path()), ElementsAre("a"));
}

TEST(ArchiveWriter, NeverReplacesADirectoryWithAnythingElseInIt) {
  const test::TemporaryDirectory directory;
  for (const std::string name : {"a/mine.txt", "a/vaiml_par_0/mine.txt"}) {
    SCOPED_TRACE(name);
    fs::remove_all(directory.file("a"));
    ASSERT_TRUE(write(directory.file("a"), ArchiveForm::kDirectory).ok());
    write_text(directory.file(name), "keep");
    const Status status = write(directory.file("a"), ArchiveForm::kDirectory);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("cannot replace the directory"));
    EXPECT_EQ(content_of(directory.file(name)), "keep");
    EXPECT_TRUE(opens(directory.file("a")));
    EXPECT_THAT(names_in(directory.path()), ElementsAre("a"));
  }
}

TEST(ArchiveWriter, RefusesATargetOfTheWrongKind) {
  const test::TemporaryDirectory directory;
  write_text(directory.file("file"), "keep");
  fs::create_directory(directory.file("directory"));
  EXPECT_EQ(write(directory.file("file"), ArchiveForm::kDirectory).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(write(directory.file("directory"), ArchiveForm::kFile).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(write("/dev/null", ArchiveForm::kFile).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(write("", ArchiveForm::kFile).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(write("", ArchiveForm::kDirectory).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(content_of(directory.file("file")), "keep");
  EXPECT_THAT(names_in(directory.path()), ElementsAre("directory", "file"));
}

TEST(ArchiveWriter, ReportsAMissingDirectory) {
  for (const ArchiveForm form : {ArchiveForm::kFile, ArchiveForm::kDirectory}) {
    const Status status = write("/nonexistent/a.rai", form);
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr("/nonexistent/a.rai"));
  }
}

// Gives up the rights of the superuser, where the test has them, for as long as this lives.
class OrdinaryUser {
 public:
  OrdinaryUser() : before_(::geteuid()) {
    constexpr uid_t kOtherUser = 65534;
    if (before_ == 0) ordinary_ = ::seteuid(kOtherUser) == 0;
  }
  ~OrdinaryUser() {
    if (before_ == 0 && ordinary_) {
      EXPECT_EQ(::seteuid(before_), 0);
    }
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

  bool ordinary() const { return ordinary_; }

 private:
  uid_t before_;
  bool ordinary_ = true;
};

TEST(ArchiveWriter, AnUnwritableDirectoryIsReportedAndLeftAlone) {
  const test::TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms(0555));
  {
    const OrdinaryUser user;
    if (!user.ordinary()) GTEST_SKIP() << "the superuser may write everywhere";
    for (const ArchiveForm form : {ArchiveForm::kFile, ArchiveForm::kDirectory}) {
      const Status status = write(directory.file("a"), form);
      EXPECT_EQ(status.code(), StatusCode::kIoError);
      EXPECT_THAT(status.message(), HasSubstr("Permission denied"));
    }
  }
  fs::permissions(directory.path(), fs::perms::owner_all);
  EXPECT_THAT(names_in(directory.path()), IsEmpty());
}

// Files may not grow beyond a limit for as long as this lives: a full disk, as a writer sees it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit { bytes, before_.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  struct rlimit before_ {};
  void (*handler_)(int);
};

TEST(ArchiveWriter, AFailedWriteLeavesNothingNewAndKeepsTheOld) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write(directory.file("a.rai"), ArchiveForm::kFile).ok());
  ASSERT_TRUE(write(directory.file("b"), ArchiveForm::kDirectory).ok());
  const std::string before = content_of(directory.file("a.rai"));
  {
    const FileSizeLimit limit(100);
    for (const std::string name : {"a.rai", "c.rai"}) {
      EXPECT_EQ(write(directory.file(name), ArchiveForm::kFile).code(), StatusCode::kIoError);
    }
    for (const std::string name : {"b", "d"}) {
      EXPECT_EQ(write(directory.file(name), ArchiveForm::kDirectory).code(), StatusCode::kIoError);
    }
  }
  EXPECT_EQ(content_of(directory.file("a.rai")), before);
  EXPECT_TRUE(opens(directory.file("b")));
  EXPECT_THAT(names_in(directory.path()), ElementsAre("a.rai", "b"));
}

}  // namespace
}  // namespace millrace::model
