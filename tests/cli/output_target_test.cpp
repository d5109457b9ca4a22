// Tests commands that write a file whose name is that of a device, a pipe or a folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "tests/cli/cli_fixture.h"
#include "tests/support/another_user.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OutputTargetCliTest : public CliTest {
 protected:
  // Returns every command that writes a file, with `path` as its name.
  std::vector<std::vector<std::string>> commands(const std::string& path) const {
    return {{"bench", archive_, "-n", "2", "--warmup", "0", "--json=" + path},
            {"bench", archive_, "-n", "2", "--scenario", "single-stream", "--plot", path},
            {"compile", kGlyphsOnnx, "-o", file("made.rai"), "--emit-qdq", path},
            {"compile", kGlyphsOnnx, "-o", file("made.rai"), "--precision", "int8", "--calibrate",
             kGlyphsFolder, "--report", path},
            {"compile", kGlyphsOnnx, "-o", path},
            {"tune", archive_, "-o", path},
            {"conformance", "--onnx-tests", file("none"), "--junit", path},
            {"conformance", "--onnx-tests", file("none"), "--table", path}};
  }

  const std::string archive_ = compiled("glyphs.rai");
};

TEST_F(OutputTargetCliTest, NoCommandReplacesADevice) {
  if (!make_device(file("null"), Node::kNull))
    GTEST_SKIP() << "only root can make a device, where the file system has devices";
  for (const std::vector<std::string>& command : commands(file("null"))) {
    millrace(command);
    EXPECT_TRUE(is_device(file("null"))) << command[0];
  }
}

TEST_F(OutputTargetCliTest, ADeviceTakesWhatIsWritten) {
  if (!make_device(file("null"), Node::kNull) || !make_device(file("full"), Node::kFull))
    GTEST_SKIP() << "only root can make a device, where the file system has devices";
  const ProgramResult fits = millrace(commands(file("null"))[0]);
  EXPECT_EQ(fits.exit_code, 0) << fits.err;
  expect_failure(millrace(commands(file("full"))[0]), file("full"));
}

// A benchmark that began its work would have printed its result.
TEST_F(OutputTargetCliTest, AFolderIsRefusedBeforeTheWork) {
  const std::string folder = file("folder");
  std::filesystem::create_directory(folder);
  for (const std::vector<std::string>& command : commands(folder)) {
    const ProgramResult result = millrace(command);
    EXPECT_NE(result.exit_code, 0) << command[0];
    EXPECT_THAT(result.err, AllOf(HasSubstr(folder), HasSubstr("a directory"))) << command[0];
    EXPECT_THAT(result.out, IsEmpty()) << command[0];
  }
}

TEST_F(OutputTargetCliTest, StandardOutputGetsTheFileBehindWhatIsPrinted) {
  const ProgramResult result = millrace(commands("/dev/stdout")[0]);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const size_t printed = result.out.find("throughput"), json = result.out.find("{\"model\"");
  EXPECT_NE(json, std::string::npos) << result.out;
  EXPECT_LT(printed, json) << result.out;
}

TEST_F(OutputTargetCliTest, AFifoGetsTheFile) {
  const std::string fifo = file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const UniqueFd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(millrace(commands(fifo)[0]).exit_code, 0);
  char first = 0;
  EXPECT_EQ(::read(reader.get(), &first, 1), 1);
  EXPECT_EQ(first, '{');
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

}  // namespace
}  // namespace millrace::test
