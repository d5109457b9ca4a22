#include "model/files/mapped_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace millrace::model {
namespace {

constexpr size_t kPage = 4096, kPages = 64;

size_t pages_in_memory(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) found = true;
    if (found && line.starts_with("Rss:")) return std::stoul(line.substr(4)) * 1024 / kPage;
  }
  return 0;
}

TEST(ReleasePages, TakesThoseOfAFileOutOfMemoryAndLeavesWhatTheyHold) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.file("pages");
  std::ofstream(path) << std::string(kPage * kPages, 'a');
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  const auto sum = [&] { return std::ranges::count(file->bytes(), std::byte{'a'}); };
  EXPECT_EQ(sum(), kPage * kPages);
  EXPECT_EQ(pages_in_memory(path), kPages);
  release_pages(file->bytes().subspan(1, kPage * kPages - 2));  // not the first and the last one
  EXPECT_LE(pages_in_memory(path), 2u);
  EXPECT_EQ(sum(), kPage * kPages);
}

TEST(ReleasePages, LeavesOtherMemoryAlone) {
  std::vector<std::byte> bytes(kPage * kPages, std::byte{'a'});
  release_pages(bytes);
  EXPECT_EQ(std::ranges::count(bytes, std::byte{'a'}), kPage * kPages);
}

}  // namespace
}  // namespace millrace::model
