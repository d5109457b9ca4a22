// Files of other origin: how long they stay mapped, and what happens when they are truncated.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "base/unique_fd.h"
#include "memory/bank.h"
#include "memory/buffer.h"
#include "memory/kept_mappings.h"

namespace millrace::memory {
namespace {

using testing::HasSubstr;

UniqueFd make_file(const std::string& name, size_t bytes, unsigned flags = 0) {
  UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | flags));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  return fd;
}

Status read(const Buffer& buffer) {
  return with_access(buffer.host_access(), Access::kRead, [] { return Status(); });
}

// How many mappings of files with that text in their name the process has.
size_t mappings_of(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(name) != std::string::npos;
  return count;
}

TEST(ForeignFile, ABufferForEveryFrameMapsItsFileOnce) {
  const UniqueFd fd = make_file("every-frame", 8192);
  const std::byte* const first = Buffer::import_fd(fd.get(), 8192).value().data();
  EXPECT_EQ(mappings_of("every-frame"), 1u) << "kept for the next frame";
  for (int frame = 0; frame < 100; ++frame) {
    const Buffer buffer = Buffer::import_fd(fd.get(), frame % 2 == 0 ? 8192 : 100).value();
    EXPECT_EQ(buffer.data(), first);
  }
  EXPECT_EQ(mappings_of("every-frame"), 1u);
}

TEST(ForeignFile, OnlyTheLastFewStayMapped) {
  for (size_t i = 0; i < 3 * kKeptMappings; ++i)
    EXPECT_TRUE(Buffer::import_fd(make_file("one-of-many", 4096).get(), 4096).ok());
  EXPECT_EQ(mappings_of("one-of-many"), kKeptMappings);
  const Buffer used = Buffer::import_fd(make_file("in-use", 4096).get(), 4096).value();
  for (size_t i = 0; i < kKeptMappings; ++i)
    EXPECT_TRUE(Buffer::import_fd(make_file("later", 4096).get(), 4096).ok());
  EXPECT_EQ(mappings_of("one-of-many"), 0u);
  EXPECT_EQ(mappings_of("in-use"), 1u) << "its user keeps it";
}

TEST(ForeignFile, WhatIsKeptIsLimitedInBytesToo) {
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(Buffer::import_fd(make_file("half", kKeptBytes / 2).get(), kKeptBytes / 2).ok());
  EXPECT_EQ(mappings_of("half"), 2u);
  EXPECT_TRUE(Buffer::import_fd(make_file("too-large", kKeptBytes + 1).get(), kKeptBytes + 1).ok());
  EXPECT_EQ(mappings_of("too-large"), 0u);
  EXPECT_EQ(mappings_of("half"), 2u);
}

TEST(ForeignFile, MemoryOfABankDoesNotStay) {
  const BankList banks = banks_of_environment().value();
  UniqueFd read_only;
  {
    const Buffer buffer = Buffer::allocate_in(*banks[0], 4096).value();
    const UniqueFd fd(buffer.export_fd().value());
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
    read_only = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  EXPECT_TRUE(Buffer::import_fd(read_only.get(), 4096).ok());
  EXPECT_EQ(mappings_of("millrace:"), 0u);
}

TEST(ForeignFile, ANumberThatNamesAnotherFileNowGivesThatFile) {
  UniqueFd fd = make_file("before", 4096);
  Buffer::import_fd(fd.get(), 4096).value().data()[0] = std::byte{1};
  const int number = fd.get();
  ASSERT_EQ(::dup3(make_file("after", 4096).get(), number, O_CLOEXEC), number);
  EXPECT_EQ(Buffer::import_fd(number, 4096).value().data()[0], std::byte{0});
}

TEST(ForeignFile, TruncationIsNoticed) {
  const UniqueFd fd = make_file("shrinks", 8192);
  const Buffer whole = Buffer::import_fd(fd.get(), 8192).value();
  const Buffer front = whole.slice(0, 4096).value(), back = whole.slice(4096, 4096).value();
  EXPECT_TRUE(read(whole).ok());
  ASSERT_EQ(::ftruncate(fd.get(), 4096), 0);
  EXPECT_EQ(read(whole).code(), StatusCode::kIoError);
  EXPECT_EQ(whole.sync_for_host().code(), StatusCode::kIoError);
  EXPECT_THAT(read(back).message(), HasSubstr("truncated: it has 4096 of 8192 bytes"));
  EXPECT_TRUE(read(front).ok());
  ASSERT_EQ(::ftruncate(fd.get(), 8192), 0);
  EXPECT_TRUE(read(whole).ok());
}

TEST(ForeignFile, TruncationIsNoticedBehindAPointerToo) {
  const UniqueFd fd = make_file("shrinks", 8192);
  Buffer whole = Buffer::import_fd(fd.get(), 8192).value();
  const Buffer wrapped = Buffer::wrap(whole.data() + 4096, 4096).value();
  const Buffer part = wrapped.slice(100, 100).value();
  std::byte elsewhere{};
  EXPECT_FALSE(HostAccess::of(&elsewhere, 1));
  ASSERT_EQ(::ftruncate(fd.get(), 4096 + 150), 0);
  EXPECT_EQ(read(wrapped).code(), StatusCode::kIoError);
  EXPECT_EQ(read(part).code(), StatusCode::kIoError);
  EXPECT_TRUE(read(wrapped.slice(0, 150).value()).ok());
  EXPECT_EQ(HostAccess::of(whole.data(), 8192).begin(Access::kWrite).code(), StatusCode::kIoError);
  EXPECT_TRUE(HostAccess::of(whole.data(), 4096).begin(Access::kWrite).ok());
}

TEST(ForeignFile, ASealedOneCannotShrink) {
  const UniqueFd fd = make_file("sealed", 4096, MFD_ALLOW_SEALING);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_FALSE(Buffer::import_fd(fd.get(), 4096).value().host_access()) << "needs no look";
  EXPECT_FALSE(Buffer::allocate(4096).value().host_access());
}

}  // namespace
}  // namespace millrace::memory
