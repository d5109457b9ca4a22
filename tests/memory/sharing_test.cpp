// Buffers behind file descriptors: lifetime, sharing, and descriptors that cannot be used.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "memory/buffer.h"
#include "memory/kept_mappings.h"
#include "tests/support/open_descriptors.h"

namespace millrace::memory {
namespace {

using test::open_descriptors;
using testing::HasSubstr;

UniqueFd exported(const Buffer& buffer) {
  const auto fd = buffer.export_fd();
  EXPECT_TRUE(fd.ok()) << fd.status().to_string();
  return UniqueFd(*fd);
}

UniqueFd make_memfd(size_t bytes) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  return fd;
}

std::string refusal(int fd, size_t bytes) {
  const auto result = Buffer::import_fd(fd, bytes);
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.status().message(), HasSubstr(std::to_string(fd)));
  return result.status().message();
}

TEST(Sharing, ImportOutlivesTheCallersDescriptor) {
  UniqueFd fd = make_memfd(8192);
  ASSERT_EQ(::pwrite(fd.get(), "hello", 5, 4096), 5);
  const Buffer buffer = *Buffer::import_fd(fd.get(), 8192);
  fd = UniqueFd();
  EXPECT_EQ(buffer.kind(), BufferKind::kImported);
  EXPECT_TRUE(buffer.writable());
  EXPECT_EQ(std::memcmp(buffer.data() + 4096, "hello", 5), 0);
}

TEST(Sharing, ExportedMemoryOutlivesTheBuffer) {
  UniqueFd fd;
  {
    const Buffer original = *Buffer::allocate(4096);
    original.data()[7] = std::byte{77};
    fd = exported(original);
    EXPECT_EQ(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
  const Buffer imported = *Buffer::import_fd(fd.get(), 4096);
  EXPECT_EQ(imported.data()[7], std::byte{77});
}

TEST(Sharing, ImportsOfOneFileShareOneMapping) {
  const Buffer original = *Buffer::allocate(8192);
  const UniqueFd first = exported(original), second = exported(original);
  const Buffer a = *Buffer::import_fd(first.get(), 8192);
  const Buffer b = *Buffer::import_fd(second.get(), 100);
  EXPECT_EQ(a.data(), original.data());
  EXPECT_EQ(b.data(), original.data());
  EXPECT_EQ(b.size(), 100u);
  EXPECT_NE(a.device_address(), b.device_address());
  EXPECT_NE(a.device_address(), original.device_address());
}

TEST(Sharing, LargerImportSeesTheSamePages) {
  const UniqueFd fd = make_memfd(16384);
  const Buffer small = *Buffer::import_fd(fd.get(), 100);
  const Buffer large = *Buffer::import_fd(fd.get(), 16384);
  small.data()[50] = std::byte{9};
  EXPECT_EQ(large.data()[50], std::byte{9});
  large.data()[16383] = std::byte{1};
}

TEST(Sharing, ImportOfAnImportCanBeExportedAgain) {
  const UniqueFd fd = make_memfd(4096);
  const Buffer first = *Buffer::import_fd(fd.get(), 4096);
  const UniqueFd again = exported(first);
  const Buffer second = *Buffer::import_fd(again.get(), 4096);
  first.data()[0] = std::byte{5};
  EXPECT_EQ(second.data()[0], std::byte{5});
}

TEST(Sharing, SliceHasNoDescriptorOfItsOwn) {
  const Buffer whole = *Buffer::allocate(4096);
  const auto result = whole.slice(0, 64)->export_fd();
  EXPECT_EQ(result.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(result.status().message(), HasSubstr("parent"));
}

TEST(Sharing, TheMemoryCannotBeTakenAway) {
  const Buffer buffer = *Buffer::allocate(8192);
  const UniqueFd fd = exported(buffer);
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  EXPECT_EQ(buffer.data()[8191], std::byte{0});
}

TEST(Sharing, ReadOnlyDescriptorGivesReadOnlyMemory) {
  const UniqueFd fd = make_memfd(4096);
  ASSERT_EQ(::pwrite(fd.get(), "abc", 3, 0), 3);
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  const UniqueFd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(read_only);
  const Buffer writable = *Buffer::import_fd(fd.get(), 4096);
  const Buffer buffer = *Buffer::import_fd(read_only.get(), 4096);
  EXPECT_FALSE(buffer.writable());
  EXPECT_FALSE(buffer.slice(0, 16)->writable());
  EXPECT_TRUE(writable.writable());
  EXPECT_EQ(std::memcmp(buffer.data(), "abc", 3), 0);
  writable.data()[0] = std::byte{'x'};
  EXPECT_EQ(buffer.data()[0], std::byte{'x'});
}

TEST(Sharing, RefusesWhatCannotBeMapped) {
  EXPECT_THAT(refusal(-1, 64), HasSubstr("Bad file descriptor"));
  const UniqueFd directory(::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_THAT(refusal(directory.get(), 64), HasSubstr("directory"));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  EXPECT_THAT(refusal(read_end.get(), 64), HasSubstr("pipe"));
  const UniqueFd file = make_memfd(100);
  EXPECT_THAT(refusal(file.get(), 101), HasSubstr("only 100 bytes"));
  const UniqueFd empty = make_memfd(0);
  EXPECT_THAT(refusal(empty.get(), 1), HasSubstr("only 0 bytes"));
  const int number = ::dup(file.get());
  ::close(number);
  EXPECT_THAT(refusal(number, 64), HasSubstr("Bad file descriptor"));
  EXPECT_EQ(Buffer::import_fd(file.get(), 0).status().code(), StatusCode::kInvalidArgument);
}

TEST(Sharing, WriteOnlyDescriptorIsRefused) {
  const UniqueFd fd = make_memfd(4096);
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  const UniqueFd write_only(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(write_only);
  EXPECT_THAT(refusal(write_only.get(), 64), HasSubstr("denied"));
}

TEST(Sharing, NoDescriptorLeaks) {
  const auto use_everything = [] {
    const Buffer original = *Buffer::allocate(4096);
    const UniqueFd fd = exported(original);
    const Buffer a = *Buffer::import_fd(fd.get(), 4096);
    const Buffer b = *Buffer::import_fd(fd.get(), 64);
    EXPECT_FALSE(Buffer::import_fd(fd.get(), 1 << 20).ok());
    EXPECT_TRUE(b.sync_for_device().ok());
  };
  use_everything();
  const size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) use_everything();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Sharing, AnotherProcessSeesTheSameBytes) {
  const Buffer buffer = *Buffer::allocate(4096);
  const UniqueFd fd = exported(buffer);
  buffer.data()[0] = std::byte{11};
  const pid_t child = ::fork();
  if (child == 0) {
    // A second mapping, as another program would make it.
    auto* data =
        static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
    const bool seen = data != MAP_FAILED && data[0] == 11;
    if (seen) data[1] = 22;
    ::_exit(seen ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(buffer.data()[1], std::byte{22});
}

TEST(Sharing, ImportsFromSeveralThreadsShareAndRelease) {
  const UniqueFd fd = make_memfd(4096 * 4);
  const size_t before = open_descriptors();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i)
    threads.emplace_back([&fd, i] {
      for (size_t round = 0; round < 200; ++round) {
        const Buffer buffer = *Buffer::import_fd(fd.get(), 4096 * (1 + (i + round) % 4));
        const Buffer same = *Buffer::import_fd(fd.get(), 4096);
        ASSERT_EQ(buffer.size(), 4096 * (1 + (i + round) % 4));
        ASSERT_EQ(same.data()[i], std::byte(round == 0 ? 0 : i + 1));
        buffer.data()[i] = std::byte(i + 1);
        ASSERT_EQ(same.data()[i], std::byte(i + 1));
        ASSERT_TRUE(HostAccess::of(same.data() + i, 1).begin(Access::kRead).ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(open_descriptors(), before + kKeptMappings);
}

}  // namespace
}  // namespace millrace::memory
