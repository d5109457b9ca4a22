#include "model/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/align.h"
#include "model/checksum.h"
#include "model/stated_checksums.h"
#include "tests/model/small_archive.h"
#include "tests/support/archive_mutation.h"
#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;
using test::SmallArchive;
using test::store_at;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Status status_of(const std::vector<std::byte>& bytes) {
  return Archive::from_memory(bytes, nullptr).status();
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void write_text(const fs::path& path, const std::string& text) {
  write_file(path, std::as_bytes(std::span(text)));
}

void expect_small_archive(const Archive& archive) {
  const SmallArchive small;
  EXPECT_EQ(archive.root().name()->str(), "small");
  ASSERT_EQ(archive.segment_count(), small.segments.size());
  for (uint32_t i = 0; i < small.segments.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(archive.segment(i), small.segments[i])) << "segment " << i;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(archive.segment(i).data()) % 64, 0u) << "segment " << i;
    EXPECT_TRUE(archive.verify_segment(i).ok()) << "segment " << i;
  }
  EXPECT_TRUE(archive.segment(archive.segment_count()).empty());
  EXPECT_EQ(archive.verify_segment(archive.segment_count()).code(), StatusCode::kInvalidArgument);
}

TEST(StatedChecksums, AreThoseOfTheSegmentsOfOpenArchives) {
  const std::vector<std::byte> bytes = SmallArchive().bytes();
  std::shared_ptr<const Archive> first = *Archive::from_memory(bytes, nullptr);
  std::shared_ptr<const Archive> second = *Archive::from_memory(bytes, nullptr);
  const auto segment = first->segment(0);
  ASSERT_GT(segment.size(), 1u);
  EXPECT_EQ(stated_checksum_of(segment), checksum_of(segment));
  EXPECT_EQ(stated_checksum_of(segment.first(1)), std::nullopt);
  EXPECT_EQ(stated_checksum_of(std::vector<std::byte>(segment.begin(), segment.end())),
            std::nullopt);
  first.reset();
  EXPECT_EQ(stated_checksum_of(second->segment(0)), checksum_of(second->segment(0)));
}

TEST(StatedChecksums, EndWithTheLastArchiveInTheirMemory) {
  const std::vector<std::byte> bytes = SmallArchive().bytes();
  alignas(64) static std::array<std::byte, 65536> memory;
  ASSERT_LE(bytes.size(), memory.size());
  std::ranges::copy(bytes, memory.begin());
  const std::span<const std::byte> archive = std::span(memory).first(bytes.size());
  std::shared_ptr<const Archive> first = *Archive::from_memory(archive, nullptr);
  std::shared_ptr<const Archive> second = *Archive::from_memory(archive, nullptr);
  const auto segment = first->segment(0);
  first.reset();
  EXPECT_EQ(stated_checksum_of(segment), checksum_of(segment));
  second.reset();
  EXPECT_EQ(stated_checksum_of(segment), std::nullopt);
}

class ArchiveForms : public ::testing::TestWithParam<ArchiveForm> {};

TEST_P(ArchiveForms, WhatIsWrittenCanBeOpened) {
  const test::TemporaryDirectory directory;
  const SmallArchive small;
  const std::string path = directory.file("small.rai");
  ASSERT_TRUE(write_archive(small.content(), path, GetParam()).ok());
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  EXPECT_EQ((*archive)->path(), path);
  expect_small_archive(**archive);
}

TEST_P(ArchiveForms, AnArchiveWithoutSegmentsCanBeOpened) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("empty.rai");
  ASSERT_TRUE(write_archive({{}, test::small_structure}, path, GetParam()).ok());
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  EXPECT_EQ((*archive)->segment_count(), 0u);
}

TEST_P(ArchiveForms, ReplacingAnOpenArchiveLeavesItsContentAlone) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("small.rai");
  ASSERT_TRUE(write_archive(SmallArchive().content(), path, GetParam()).ok());
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive.ok());
  ASSERT_TRUE(write_archive({{}, test::small_structure}, path, GetParam()).ok());
  expect_small_archive(**archive);
}

INSTANTIATE_TEST_SUITE_P(Forms, ArchiveForms,
                         ::testing::Values(ArchiveForm::kFile, ArchiveForm::kDirectory),
                         [](const auto& info) {
                           return info.param == ArchiveForm::kFile ? "File" : "Directory";
                         });

TEST(Archive, OpensFromMemoryAtAnyAlignment) {
  const std::vector<std::byte> bytes = SmallArchive().bytes();
  for (size_t shift = 0; shift < 64; shift += 7) {
    std::vector<std::byte> shifted(bytes.size() + shift);
    std::ranges::copy(bytes, shifted.begin() + static_cast<ptrdiff_t>(shift));
    auto archive = Archive::from_memory(std::span(shifted).subspan(shift), nullptr);
    ASSERT_TRUE(archive.ok()) << archive.status().to_string();
    expect_small_archive(**archive);
  }
}

TEST(Archive, UsesAlignedMemoryInPlaceAndKeepsItsOwner) {
  const std::vector<std::byte> bytes = SmallArchive().bytes();
  const std::shared_ptr<std::byte> block(
      static_cast<std::byte*>(std::aligned_alloc(64, align_up(bytes.size(), 64))), std::free);
  std::ranges::copy(bytes, block.get());
  auto archive = Archive::from_memory({block.get(), bytes.size()}, block);
  ASSERT_TRUE(archive.ok());
  EXPECT_EQ(block.use_count(), 2 + 1);  // the structure and the segments
  EXPECT_GE((*archive)->segment(0).data(), block.get());
  EXPECT_LT((*archive)->segment(0).data(), block.get() + bytes.size());
  archive = internal_error("released");
  EXPECT_EQ(block.use_count(), 1);
}

TEST(Archive, EveryTruncationIsRefused) {
  const test::TemporaryDirectory directory;
  const std::vector<std::byte> bytes = SmallArchive().bytes();
  const std::string path = directory.file("cut.rai");
  for (size_t length = 0; length < bytes.size(); ++length) {
    write_file(path, std::span(bytes).first(length));
    const Status status = Archive::open(path).status();
    ASSERT_EQ(status.code(), StatusCode::kCorruptData) << "at " << length;
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
    ASSERT_EQ(status_of(cut).code(), StatusCode::kCorruptData) << "at " << length;
    if (length >= test::kHeaderBytes) {
      ASSERT_THAT(status.message(),
                  HasSubstr("truncated: expected " + std::to_string(bytes.size()) +
                            " bytes, have " + std::to_string(length)));
    }
  }
}

TEST(Archive, BytesAfterTheEndAreRefused) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  bytes.push_back({});
  EXPECT_THAT(status_of(bytes).message(), HasSubstr("1 bytes follow the end"));
}

TEST(Archive, AFlippedBitInTheStructureIsRefused) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  test::structure_of(bytes)[40] ^= std::byte{4};
  EXPECT_EQ(status_of(bytes).code(), StatusCode::kCorruptData);
  EXPECT_THAT(status_of(bytes).message(), HasSubstr("structure is damaged"));
}

TEST(Archive, AStructureThatIsNoFlatBufferIsRefused) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  store_at<uint32_t>(test::structure_of(bytes), 0, 0x7fffffff);
  test::fix_checksums(bytes);
  EXPECT_THAT(status_of(bytes).message(), HasSubstr("not a valid FlatBuffer"));
}

TEST(Archive, DamagedSegmentsOpenButDoNotVerify) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  bytes.back() ^= std::byte{0x80};
  auto archive = Archive::from_memory(bytes, nullptr);
  ASSERT_TRUE(archive.ok());
  EXPECT_TRUE((*archive)->verify_segment(0).ok());
  EXPECT_EQ((*archive)->verify_segment(2).code(), StatusCode::kCorruptData);
}

// An archive whose structure claims other offsets for its segments than they have.
Status status_with_segments(const std::vector<SegmentInfo>& claimed) {
  const SmallArchive small;
  ArchiveContent content = small.content();
  content.build_structure = [&](std::span<const SegmentInfo>) {
    return test::small_structure(claimed);
  };
  return status_of(archive_bytes(content));
}

TEST(Archive, SegmentsOutsideTheirAreaAreRefused) {
  constexpr uint64_t kAll = ~uint64_t{0};
  EXPECT_TRUE(status_with_segments({{0, 100, 0}, {128, 64, 0}}).ok());
  EXPECT_THAT(status_with_segments({{0, 193, 0}}).message(), HasSubstr("outside"));
  EXPECT_THAT(status_with_segments({{192, 1, 0}}).message(), HasSubstr("outside"));
  EXPECT_THAT(status_with_segments({{kAll - 63, 64, 0}}).message(), HasSubstr("outside"));
  EXPECT_THAT(status_with_segments({{64, kAll, 0}}).message(), HasSubstr("outside"));
  EXPECT_THAT(status_with_segments({{0, kAll, 0}}).message(), HasSubstr("outside"));
}

TEST(Archive, MisalignedOrOverlappingSegmentsAreRefused) {
  EXPECT_THAT(status_with_segments({{32, 10, 0}}).message(), HasSubstr("not a multiple of 64"));
  EXPECT_THAT(status_with_segments({{0, 100, 0}, {64, 10, 0}}).message(),
              HasSubstr("inside segment 0"));
  EXPECT_THAT(status_with_segments({{64, 10, 0}, {0, 10, 0}}).message(),
              HasSubstr("inside segment 0"));
}

TEST(Archive, AMissingPathIsNotFound) {
  const Status status = Archive::open("/nonexistent/model.rai").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/nonexistent/model.rai"));
}

TEST(Archive, AnEmptyPathIsRefusedInWords) {
  const auto archive = Archive::open("");
  EXPECT_EQ(archive.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(archive.status().message(), "the path of the archive is empty");
}

TEST(Archive, APipeIsRefusedWithoutWaiting) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("pipe.rai");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Archive::open(path).status().code(), StatusCode::kInvalidArgument);
}

TEST(ArchiveDirectory, WithoutThePartDirectorySaysWhatIsMissing) {
  const test::TemporaryDirectory directory;
  const Status status = Archive::open(directory.path().string()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("vaiml_par_0/structure.bin"), Not(HasSubstr("pass the file"))));
}

TEST(ArchiveDirectory, WithArchiveFilesNamesThem) {
  const test::TemporaryDirectory directory;
  write_text(directory.path() / "resnet.rai", "");
  write_text(directory.path() / "notes.txt", "");
  const Status status = Archive::open(directory.path().string()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("pass the file itself: " + directory.file("resnet.rai")),
                    Not(HasSubstr("notes.txt"))));
}

class DamagedDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status status = write_archive(SmallArchive().content(), path(), ArchiveForm::kDirectory);
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
  std::string path() const { return directory_.file("model"); }
  fs::path part(const std::string& name) const { return fs::path(path()) / "vaiml_par_0" / name; }
  Status open_status() const { return Archive::open(path()).status(); }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(DamagedDirectory, MissingFilesAreNamed) {
  fs::remove(part("segments.bin"));
  EXPECT_EQ(open_status().code(), StatusCode::kCorruptData);
  EXPECT_THAT(open_status().message(), HasSubstr("vaiml_par_0/segments.bin"));
  fs::remove(part("structure.bin"));
  EXPECT_EQ(open_status().code(), StatusCode::kCorruptData);
  EXPECT_THAT(open_status().message(), HasSubstr("vaiml_par_0/structure.bin"));
}

TEST_F(DamagedDirectory, SegmentsOfAnotherLengthAreRefused) {
  fs::resize_file(part("segments.bin"), 191);
  EXPECT_EQ(open_status().code(), StatusCode::kCorruptData);
  EXPECT_THAT(open_status().message(), HasSubstr("expected 192 bytes, have 191"));
  fs::resize_file(part("segments.bin"), 193);
  EXPECT_THAT(open_status().message(), HasSubstr("expected 192 bytes, have 193"));
}

TEST_F(DamagedDirectory, EveryTruncationOfTheStructureIsRefused) {
  for (auto length = fs::file_size(part("structure.bin")); length-- > 0;) {
    fs::resize_file(part("structure.bin"), length);
    ASSERT_EQ(open_status().code(), StatusCode::kCorruptData) << "at " << length;
  }
}

TEST_F(DamagedDirectory, ItsStructureAloneIsNoArchive) {
  const Status status = Archive::open(part("structure.bin").string()).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruptData);
  EXPECT_THAT(status.message(), HasSubstr("pass the directory that contains vaiml_par_0"));
}

TEST_F(DamagedDirectory, AFileFormInPlaceOfTheStructureIsRefused) {
  write_file(part("structure.bin"), SmallArchive().bytes());
  EXPECT_EQ(open_status().code(), StatusCode::kCorruptData);
  EXPECT_THAT(open_status().message(), HasSubstr("archive in file form"));
}

}  // namespace
}  // namespace millrace::model
