#include "model/archive_extract.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "model/archive.h"
#include "tests/model/small_archive.h"
#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ArchiveExtract : public ::testing::Test {
 protected:
  ArchiveExtract() { EXPECT_TRUE(write_archive(small_.content(), file_, ArchiveForm::kFile).ok()); }

  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::SmallArchive small_;
  const test::TemporaryDirectory directory_;
  const std::string file_ = directory_.file("a.rai");
  const std::string target_ = directory_.file("a");
  const std::string structure_ = target_ + "/vaiml_par_0/structure.bin";
  const std::string segments_ = target_ + "/vaiml_par_0/segments.bin";
};

TEST_F(ArchiveExtract, GivesWhatTheWriterGives) {
  ASSERT_TRUE(extract_archive(file_, target_).value());
  const std::string written = directory_.file("b");
  ASSERT_TRUE(write_archive(small_.content(), written, ArchiveForm::kDirectory).ok());
  EXPECT_EQ(content_of(structure_), content_of(written + "/vaiml_par_0/structure.bin"));
  EXPECT_EQ(content_of(segments_), content_of(written + "/vaiml_par_0/segments.bin"));
}

TEST_F(ArchiveExtract, WritesOnlyWhatIsNotThere) {
  ASSERT_TRUE(extract_archive(file_, target_).value());
  EXPECT_FALSE(extract_archive(file_, target_).value());
}

TEST_F(ArchiveExtract, ReplacesADamagedOne) {
  ASSERT_TRUE(extract_archive(file_, target_).value());
  const std::string good = content_of(segments_);
  for (const std::string& path : {structure_, segments_}) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end)
        << 'x';
    EXPECT_TRUE(extract_archive(file_, target_).value());
    ASSERT_TRUE(Archive::open(target_).ok());
    EXPECT_EQ(content_of(segments_), good);
  }
  fs::remove(segments_);
  EXPECT_TRUE(extract_archive(file_, target_).value());
}

TEST_F(ArchiveExtract, LeavesOtherFilesOfTheDirectoryAlone) {
  fs::create_directory(target_);
  std::ofstream(target_ + "/notes.txt") << "mine";
  ASSERT_TRUE(extract_archive(file_, target_).value());
  EXPECT_EQ(content_of(target_ + "/notes.txt"), "mine");
}

TEST_F(ArchiveExtract, RefusesToReplaceWhatIsNoArchive) {
  fs::create_directories(target_ + "/vaiml_par_0");
  std::ofstream(target_ + "/vaiml_par_0/thesis.tex") << "mine";
  const auto extracted = extract_archive(file_, target_);
  EXPECT_EQ(extracted.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(extracted.status().message(), HasSubstr("vaiml_par_0"));
  EXPECT_EQ(content_of(target_ + "/vaiml_par_0/thesis.tex"), "mine");
}

TEST_F(ArchiveExtract, RefusesAFileThatIsNoArchive) {
  std::ofstream(file_) << "something else";
  const auto extracted = extract_archive(file_, target_);
  EXPECT_EQ(extracted.status().code(), StatusCode::kCorruptData);
  EXPECT_THAT(extracted.status().message(), HasSubstr(file_));
  EXPECT_FALSE(fs::exists(target_));
}

}  // namespace
}  // namespace millrace::model
