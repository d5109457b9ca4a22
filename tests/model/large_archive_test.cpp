// Archives larger than FlatBuffers and 32-bit offsets can address.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/align.h"
#include "base/unique_fd.h"
#include "model/archive.h"
#include "model/checksum.h"
#include "tests/model/small_archive.h"
#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kLargeBytes = 5 * kGiB;

bool write_at(int fd, std::span<const std::byte> bytes, uint64_t offset) {
  return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(bytes.size());
}

// An archive whose first segment is a hole of 5 GiB and whose second one holds `tail`. False where
// the file system cannot hold it.
bool write_sparse_archive(const std::string& path, std::span<const std::byte> tail) {
  const std::vector<uint8_t> structure = test::small_structure(
      std::vector<SegmentInfo>{{0, kLargeBytes, 0}, {kLargeBytes, tail.size(), checksum_of(tail)}});
  Header header;
  header.structure_length = static_cast<uint32_t>(structure.size());
  header.structure_checksum = checksum_of(std::as_bytes(std::span(structure)));
  header.segments_offset = align_up(kHeaderSize + structure.size(), kSegmentAlignment);
  header.segments_length = kLargeBytes + tail.size();
  header.file_length = header.segments_offset + header.segments_length;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return static_cast<bool>(file) &&
         ::ftruncate(file.get(), static_cast<off_t>(header.file_length)) == 0 &&
         write_at(file.get(), write_header(header), 0) &&
         write_at(file.get(), std::as_bytes(std::span(structure)), kHeaderSize) &&
         write_at(file.get(), tail, header.segments_offset + kLargeBytes);
}

TEST(LargeArchive, FiveGibibytesAreMappedAndReadInPlace) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("large.rai");
  const std::vector<std::byte> tail = test::numbered_bytes(1000, 77);
  if (!write_sparse_archive(path, tail)) {
    GTEST_SKIP() << "no sparse file of 5 GiB here: " << std::strerror(errno);
  }
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  EXPECT_EQ((*archive)->segment(0).size(), kLargeBytes);
  EXPECT_EQ((*archive)->segment(0).back(), std::byte{0});
  EXPECT_TRUE(std::ranges::equal((*archive)->segment(1), tail));
  EXPECT_TRUE((*archive)->verify_segment(1).ok());
}

TEST(LargeArchive, ItsTruncationIsNoticed) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("large.rai");
  if (!write_sparse_archive(path, test::numbered_bytes(1000, 77))) {
    GTEST_SKIP() << "no sparse file of 5 GiB here: " << std::strerror(errno);
  }
  std::filesystem::resize_file(path, kLargeBytes - 4 * kGiB);
  EXPECT_EQ(Archive::open(path).status().code(), StatusCode::kCorruptData);
}

}  // namespace
}  // namespace millrace::model
