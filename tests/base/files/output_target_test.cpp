#include "base/files/output_target.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "tests/support/another_user.h"
#include "tests/support/temporary_directory.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputTargetTest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_.file(name); }

  // Returns the message with which the path is refused; empty where it is not refused.
  static std::string refusal(const std::string& path) {
    const auto target = output_target(path);
    EXPECT_TRUE(target.ok() || target.status().code() == StatusCode::kInvalidArgument);
    return target.status().message();
  }

  static Status write(const std::string& path, std::string_view text) {
    const auto target = output_target(path);
    EXPECT_TRUE(target.ok() && target->is_stream) << path;
    return write_through(*target, std::as_bytes(std::span(text)));
  }

  test::TemporaryDirectory directory_;
};

TEST_F(OutputTargetTest, NothingAndAFileAreReplaced) {
  std::ofstream(file("old")) << "old";
  for (const char* name : {"old", "new", "no/folder"}) {
    const auto target = output_target(file(name));
    ASSERT_TRUE(target.ok());
    EXPECT_FALSE(target->is_stream);
    EXPECT_EQ(target->path, file(name));
  }
}

TEST_F(OutputTargetTest, ADirectoryAndASocketAreRefusedByTheirNames) {
  EXPECT_THAT(refusal(directory_.path().string()), HasSubstr("a directory"));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  file("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(refusal(file("socket")), HasSubstr("a socket"));
  EXPECT_THAT(check_output(file("socket")).message(), HasSubstr(file("socket")));
  EXPECT_TRUE(check_output("").ok());
}

TEST_F(OutputTargetTest, ABlockDeviceIsRefused) {
  if (::mknod(file("disk").c_str(), S_IFBLK | 0600, makedev(7, 200)) != 0)
    GTEST_SKIP() << "only root can make a block device";
  EXPECT_THAT(refusal(file("disk")), HasSubstr("a block device"));
}

TEST_F(OutputTargetTest, ACharacterDeviceIsWrittenThrough) {
  if (!test::make_device(file("null"), test::Node::kNull) ||
      !test::make_device(file("full"), test::Node::kFull))
    GTEST_SKIP() << "only root can make a device, where the file system has devices";
  EXPECT_TRUE(write(file("null"), "text").ok());
  EXPECT_THAT(write(file("full"), "text").message(), HasSubstr("No space left"));
  EXPECT_TRUE(test::is_device(file("null")) && test::is_device(file("full")));
}

TEST_F(OutputTargetTest, AFifoIsWrittenThroughToItsReader) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  EXPECT_THAT(write(file("fifo"), "text").message(), HasSubstr("nobody reads"));
  const UniqueFd reader(::open(file("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write(file("fifo"), "text").ok());
  char text[8] = {};
  EXPECT_EQ(::read(reader.get(), text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
}

// A pipe without a reader would end the process by SIGPIPE.
TEST_F(OutputTargetTest, APipeWithoutAReaderIsAFailure) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd writer(ends[1]);
  ::close(ends[0]);
  EXPECT_THAT(write("/dev/fd/" + std::to_string(writer.get()), "text").message(),
              HasSubstr("Broken pipe"));
}

// With `--json /dev/stdout > file` the text that the program prints itself must stay.
TEST_F(OutputTargetTest, AFileThatThisProcessHasOpenIsWrittenBehindWhatIsThere) {
  const UniqueFd opened(::open(file("a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(opened.get(), "one ", 4), 4);
  ASSERT_TRUE(write("/proc/self/fd/" + std::to_string(opened.get()), "two ").ok());
  ASSERT_EQ(::write(opened.get(), "three", 5), 5);
  std::ifstream content(file("a"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(content), {}), "one two three");
}

TEST_F(OutputTargetTest, LinksOfTheUserAreFollowed) {
  fs::create_symlink("real", file("link"));
  fs::create_symlink(file("link"), file("second"));
  const auto target = output_target(file("second"));
  ASSERT_TRUE(target.ok()) << target.status().to_string();
  EXPECT_EQ(target->path, file("real"));
}

TEST_F(OutputTargetTest, ALinkInACircleIsAFailure) {
  fs::create_symlink("b", file("a"));
  fs::create_symlink("a", file("b"));
  EXPECT_EQ(output_target(file("a")).status().code(), StatusCode::kIoError);
}

TEST_F(OutputTargetTest, ALinkOfAnotherUserIsRefused) {
  std::ofstream(file("precious")) << "old";
  fs::create_symlink("precious", file("link"));
  if (!test::give_to_another_user(file("link"))) GTEST_SKIP() << "only root can give a file away";
  EXPECT_THAT(refusal(file("link")), HasSubstr("symbolic link of another user"));
  EXPECT_FALSE(output_directory(file("link")).ok());
}

TEST_F(OutputTargetTest, OnlyAFileTakesThePlaceOfAFile) {
  std::ofstream(file("file")) << "old";
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  fs::create_symlink("file", file("link"));
  EXPECT_TRUE(check_replaceable(file("nothing")).ok());
  EXPECT_TRUE(check_replaceable(file("file")).ok());
  for (const char* name : {"fifo", "link", "."}) EXPECT_FALSE(check_replaceable(file(name)).ok());
  EXPECT_TRUE(check_replaceable_directory(directory_.path().string()).ok());
  EXPECT_FALSE(check_replaceable_directory(file("file")).ok());
}

}  // namespace
}  // namespace millrace
