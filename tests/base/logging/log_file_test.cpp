#include "base/logging/log_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/log.h"
#include "base/logging/log_line.h"
#include "tests/support/temporary_directory.h"

namespace millrace {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LogFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name = "log") const { return directory_.file(name); }

 private:
  const test::TemporaryDirectory directory_;
};

TEST_F(LogFileTest, AppendsToWhatIsThere) {
  std::ofstream(path()) << "before\n";
  auto log = LogFile::open(path());
  ASSERT_TRUE(log.ok()) << log.status().message();
  (*log)->write("one\n");
  (*log)->write("two\n");
  EXPECT_EQ(text_of(path()), "before\none\ntwo\n");
}

TEST_F(LogFileTest, AFullFileIsKeptUnderAnotherName) {
  auto log = LogFile::open(path(), 12);
  ASSERT_TRUE(log.ok()) << log.status().message();
  for (const char* line : {"first\n", "second\n", "third\n", "a line longer than a file\n", "4\n"})
    (*log)->write(line);
  EXPECT_EQ(text_of(path()), "4\n");
  EXPECT_EQ(text_of(path("log.1")), "a line longer than a file\n");
}

TEST_F(LogFileTest, AFullFileThatCannotBeRenamedBeginsAgain) {
  ASSERT_EQ(::mkdir(path("log.1").c_str(), 0700), 0);
  auto log = LogFile::open(path(), 12);
  ASSERT_TRUE(log.ok());
  for (const char* line : {"first\n", "second\n", "third\n"}) (*log)->write(line);
  EXPECT_EQ(text_of(path()), "third\n");
}

TEST_F(LogFileTest, OfTwoWritersOneRenamesIt) {
  auto a = LogFile::open(path(), 10), b = LogFile::open(path(), 10);
  ASSERT_TRUE(a.ok() && b.ok());
  (*a)->write("a1 a1 a1\n");
  (*a)->write("a2\n");  // into a new file, beside the one that b has open
  (*b)->write("b1\n");
  EXPECT_EQ(text_of(path()), "a2\nb1\n");
  EXPECT_EQ(text_of(path("log.1")), "a1 a1 a1\n");
}

TEST_F(LogFileTest, ADescriptorThatIsNoLongerItsOwnIsLeftAlone) {
  auto log = LogFile::open(path());
  ASSERT_TRUE(log.ok());
  for (int fd = STDERR_FILENO + 1; fd < 64; ++fd) {
    struct stat ours {
    }, of_path{};
    if (::fstat(fd, &ours) != 0 || ::stat(path().c_str(), &of_path) != 0 ||
        ours.st_ino != of_path.st_ino)
      continue;
    const int other = ::open(path("other").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::dup2(other, fd), fd);
    ::close(other);
  }
  (*log)->write("line\n");
  EXPECT_EQ(text_of(path("other")), "");
  EXPECT_EQ(text_of(path()), "line\n");
}

TEST_F(LogFileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(LogFile::open(path("fifo")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(LogFile::open(path("missing/log")).ok());
  EXPECT_FALSE(LogFile::open("/dev/null").ok());
}

TEST(LogLine, OfJsonHasEachPart) {
  const std::string text = log_line(LogFormat::kJson, LogLevel::kWarning, "unit", "a \"b\" \\");
  ASSERT_EQ(text.find('\n'), text.size() - 1);
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["level"], "WARNING");
  EXPECT_EQ(line["component"], "unit");
  EXPECT_EQ(line["message"], "a \"b\" \\");
  EXPECT_EQ(line["process"], ::getpid());
  EXPECT_EQ(line["thread"], ::gettid());
  const std::string time = line["time"];
  ASSERT_EQ(time.size(), std::string("2026-11-30T10:25:00.123456Z").size());
  EXPECT_EQ(time[10], 'T');
  EXPECT_EQ(time.back(), 'Z');
}

TEST(LogLine, FormatsHaveNames) {
  EXPECT_EQ(parse_log_format("JSON"), LogFormat::kJson);
  EXPECT_EQ(parse_log_format("full"), LogFormat::kFull);
  EXPECT_EQ(parse_log_format("xml"), std::nullopt);
}

// The variables are read once per process, so these tests run in processes of their own.
class LogSettingsDeathTest : public LogFileTest {
 protected:
  LogSettingsDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  // Logs one line of each level and exits.
  static void log_with(const char* level, const std::string& file, const char* format) {
    setenv("MILLRACE_LOG", level, 1);
    setenv("MILLRACE_LOG_FILE", file.c_str(), 1);
    setenv("MILLRACE_LOG_FORMAT", format, 1);
    for (const LogLevel each : {LogLevel::kError, LogLevel::kInfo, LogLevel::kDebug})
      log(each, "test", "line");
    std::_Exit(0);
  }
};

// A test that is run in a new process has a directory of its own, so its path is a fixed one here.
std::string fixed_path() {
  const char* const folder = std::getenv("TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/millrace_log_settings_" +
         std::to_string(::getuid());
}

TEST_F(LogSettingsDeathTest, AFileTakesTheLines) {
  const auto exits = testing::ExitedWithCode(0);
  // Each process of a test begins here, too.
  ::unlink(fixed_path().c_str());
  EXPECT_EXIT(log_with("off", fixed_path(), "plain"), exits, "^$");
  EXPECT_EQ(text_of(fixed_path()), "");
  EXPECT_EXIT(log_with("", fixed_path(), "plain"), exits, "^$");
  EXPECT_EQ(text_of(fixed_path()), "[ERROR] test: line\n[INFO] test: line\n");
  ::unlink(fixed_path().c_str());
}

TEST_F(LogSettingsDeathTest, WhatMakesNoSenseIsNamed) {
  const auto exits = testing::ExitedWithCode(0);
  EXPECT_EXIT(
      log_with("error", "/missing/folder/log", "plain"), exits,
      "MILLRACE_LOG_FILE is \"/missing/folder/log\".*standard error\n.ERROR. test: line\n$");
  EXPECT_EXIT(log_with("error", "", "xml"), exits,
              "MILLRACE_LOG_FORMAT is \"xml\".*\n.ERROR. test: line\n$");
  EXPECT_EXIT(log_with("error", "", "json"), exits, "^.\"time\":.*\"message\":\"line\".\n$");
}

}  // namespace
}  // namespace millrace
