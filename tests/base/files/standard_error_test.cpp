// A line of the log reaches standard error, or nothing. Each case runs in a child process, which
// treats number 2 as programs do.
#include "base/files/standard_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "base/files/known_file.h"
#include "base/log.h"
#include "tests/support/run_in_child.h"
#include "tests/support/temporary_directory.h"

namespace millrace {
namespace {

void log_a_line() {
  log_to_stderr(LogLevel::kError, "test", "line");
}

off_t size_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_size : -1;
}

class StandardErrorTest : public testing::Test {
 protected:
  // Opens the file under number 2, as a program does that opens a file after closing number 2.
  bool takes_number_2(int flags) const {
    ::close(STDERR_FILENO);
    return ::open(path_.c_str(), O_RDWR | O_CREAT | flags, 0600) == STDERR_FILENO;
  }
  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("file");
};

TEST_F(StandardErrorTest, IsFollowedWhereTheProgramRedirectsIt) {
  EXPECT_EQ(test::run_in_child([&] {
              const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
              ::dup2(file, STDERR_FILENO);
              log_a_line();
              return 0;
            }),
            0);
  EXPECT_EQ(content(), "[ERROR] test: line\n");
}

TEST_F(StandardErrorTest, IsFollowedIntoAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(test::run_in_child([&] {
              ::dup2(ends[1], STDERR_FILENO);
              log_a_line();
              return 0;
            }),
            0);
  ::close(ends[1]);
  char text[64] = {};
  EXPECT_GT(::read(ends[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "[ERROR] test: line\n");
  ::close(ends[0]);
}

TEST_F(StandardErrorTest, IsNoFileThatAnotherLibraryHasOpened) {
  EXPECT_EQ(test::run_in_child([&] {
              const bool taken = takes_number_2(O_CLOEXEC);
              log_a_line();
              return taken ? 0 : 1;
            }),
            0);
  EXPECT_EQ(content(), "");
}

TEST_F(StandardErrorTest, IsNoSocketAndNoMemory) {
  EXPECT_EQ(test::run_in_child([] {
              ::close(STDERR_FILENO);
              int ends[2];
              if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
              log_a_line();
              char byte = 0;
              return ends[0] == STDERR_FILENO && ::recv(ends[1], &byte, 1, MSG_DONTWAIT) < 0 ? 0
                                                                                             : 2;
            }),
            0);
  EXPECT_EQ(test::run_in_child([] {
              ::close(STDERR_FILENO);
              const int memory = ::memfd_create("memory", 0);
              log_a_line();
              return memory == STDERR_FILENO && size_of(memory) == 0 ? 0 : 1;
            }),
            0);
}

TEST_F(StandardErrorTest, IsGoneForEverOnceALineFindsItClosed) {
  EXPECT_EQ(test::run_in_child([&] {
              ::close(STDERR_FILENO);
              log_a_line();
              const bool taken = takes_number_2(0);
              log_a_line();
              return taken ? 0 : 1;
            }),
            0);
  EXPECT_EQ(content(), "");
}

// A daemon that closes it must not keep the reader at the other end waiting.
TEST_F(StandardErrorTest, IsNotKeptOpen) {
  EXPECT_EQ(test::run_in_child([] {
              int ends[2];
              if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return 1;
              ::close(ends[1]);
              log_a_line();
              ::close(STDERR_FILENO);
              char text[64];
              if (::read(ends[0], text, sizeof text) <= 0) return 2;
              return ::read(ends[0], text, sizeof text) == 0 ? 0 : 3;
            }),
            0);
}

// A daemon closes all descriptors that it does not know, and then opens its own.
TEST_F(StandardErrorTest, ALogFileWhoseNumberWasTakenGetsNoLine) {
  EXPECT_EQ(test::run_in_child([&] {
              const int number = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
              const KnownFile log((UniqueFd(number)));
              ::close(number);
              const int taken = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
              log_to_file(log, LogLevel::kError, "test", "line");
              return taken == number ? 0 : 1;
            }),
            0);
  EXPECT_EQ(content(), "");
}

TEST(OwnDescriptor, HasNoNumberOfAStandardStream) {
  EXPECT_EQ(test::run_in_child([] {
              ::close(STDIN_FILENO);
              const UniqueFd file = own_descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
              const bool free = ::fcntl(STDIN_FILENO, F_GETFD) < 0;
              const bool inherited = (::fcntl(file.get(), F_GETFD) & FD_CLOEXEC) == 0;
              return file.get() > STDERR_FILENO && free && !inherited ? 0 : 1;
            }),
            0);
  errno = 0;
  EXPECT_FALSE(own_descriptor(::open("/none", O_RDONLY | O_CLOEXEC)));
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace millrace
