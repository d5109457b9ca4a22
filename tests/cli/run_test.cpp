#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "io/file.h"
#include "io/npy.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class RunTest : public CliTest {
 protected:
  // One held-back picture as the floats that the network takes.
  static std::vector<float> picture(size_t index) {
    const auto images = io::read_npy(kGlyphsFolder + "heldback_images.npy");
    EXPECT_TRUE(images.ok()) << images.status().to_string();
    std::vector<float> frame(32 * 32);
    for (size_t i = 0; i < frame.size(); ++i)
      frame[i] =
          static_cast<float>(std::to_integer<int>(images->bytes[index * frame.size() + i])) / 255;
    return frame;
  }

  std::string raw_input(const std::string& name, const std::vector<float>& values) const {
    EXPECT_TRUE(io::write_file(file(name), std::as_bytes(std::span(values))).ok());
    return file(name);
  }
};

TEST_F(RunTest, RawInputGivesNamedClassesInOrder) {
  const std::string input = raw_input("a.bin", picture(0));
  const ProgramResult result = millrace({"run", compiled("glyphs.rai"), "--input", "image=" + input,
                                         "--top", "3", "--labels", kGlyphsFolder + "classes.txt"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto labels = io::read_npy(kGlyphsFolder + "heldback_labels.npy");
  const auto classes = io::read_lines(kGlyphsFolder + "classes.txt");
  ASSERT_TRUE(labels.ok() && classes.ok());
  const auto right = std::to_integer<size_t>(labels->bytes[0]);
  EXPECT_THAT(result.out, HasSubstr("  1. " + std::to_string(right) + " "));
  EXPECT_THAT(result.out, HasSubstr("  " + (*classes)[right] + "\n"));
  EXPECT_THAT(result.out, HasSubstr("  3. "));
}

TEST_F(RunTest, FlagsWithoutEffectAreRefused) {
  const std::string model = compiled("glyphs.rai"), input = raw_input("a.bin", picture(0));
  const ProgramResult labels =
      millrace({"run", model, "--input", input, "--labels", kGlyphsFolder + "classes.txt"});
  EXPECT_EQ(labels.exit_code, 2);
  EXPECT_THAT(labels.err, HasSubstr("--labels requires --top"));
  expect_failure(millrace({"run", model, "--input", input, "--short-side", "40"}), "--resize crop");
}

TEST_F(RunTest, InputsWithoutAnEndAreRefused) {
  expect_failure(millrace({"run", compiled("glyphs.rai"), "--input", "/dev/zero"}),
                 "/dev/zero is not a regular file");
}

TEST_F(RunTest, AnEmptyPathIsCalledSo) {
  expect_failure(millrace({"run", "", "--input", "a.bin"}), "the path of the archive is empty");
}

TEST_F(RunTest, OnnxIsCompiledOnTheWay) {
  const std::string input = raw_input("a.bin", picture(0));
  const ProgramResult direct = millrace({"run", kGlyphsOnnx, "--input", input, "--top", "5"});
  const ProgramResult compiled_first =
      millrace({"run", compiled("glyphs.rai"), "--input", input, "--top", "5"});
  ASSERT_EQ(direct.exit_code, 0) << direct.err;
  EXPECT_EQ(direct.out, compiled_first.out);
}

TEST_F(RunTest, FramesBeyondTheBatchRunAsFurtherJobs) {
  std::vector<float> three;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<float> frame = picture(i);
    three.insert(three.end(), frame.begin(), frame.end());
  }
  const std::string input = raw_input("three.bin", three);
  const std::string alone = raw_input("alone.bin", picture(2));
  const std::string model = compiled("glyphs.rai", {"--batch", "2"});
  ASSERT_EQ(millrace({"run", model, "--input", input, "--output-dir", file("all")}).exit_code, 0);
  ASSERT_EQ(millrace({"run", model, "--input", alone, "--output-dir", file("one")}).exit_code, 0);
  const auto all = io::read_file(file("all/scores.bin"));
  const auto one = io::read_file(file("one/scores.bin"));
  ASSERT_TRUE(all.ok() && one.ok());
  ASSERT_EQ(all->size(), 3 * one->size());
  EXPECT_EQ(std::memcmp(all->data() + 2 * one->size(), one->data(), one->size()), 0);
}

TEST_F(RunTest, HwViewWritesTheDevicesBytes) {
  const std::string model = compiled("glyphs.rai", {"--precision", "bf16"});
  const std::vector<std::byte> frame(32 * 32 * 4 * 2);  // [32,1,32,1,4] BF16
  ASSERT_TRUE(io::write_file(file("hw.bin"), frame).ok());
  const ProgramResult result = millrace(
      {"run", model, "--input", file("hw.bin"), "--view", "hw", "--output-dir", file("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto classes = io::read_lines(kGlyphsFolder + "classes.txt");
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(std::filesystem::file_size(file("out/scores.bin")), 2 * classes->size());
  EXPECT_THAT(result.out, HasSubstr("BF16 GENERIC"));
}

TEST_F(RunTest, WrongInputsAreRefusedByName) {
  const std::string model = compiled("glyphs.rai");
  const std::string short_input = raw_input("short.bin", {1, 2, 3});
  expect_failure(millrace({"run", model, "--input", short_input}), "short.bin");
  expect_failure(millrace({"run", model, "--input", "photo=" + short_input}), "photo");
  expect_failure(millrace({"run", model, "--input", "none.bin"}), "none.bin");
  expect_failure(millrace({"run", model, "--input", kGlyphsFolder + "heldback_labels.npy"}),
                 "heldback_labels.npy");
  std::filesystem::copy(short_input, file("fake.png"));
  expect_failure(millrace({"run", model, "--input", file("fake.png")}), "fake.png");
  const std::string good = raw_input("good.bin", picture(0));
  expect_failure(millrace({"run", model, "--input", good, "--top", "1", "--labels", "none.txt"}),
                 "none.txt");
  expect_failure(millrace({"run", model, "--input", good, "--device", "abacus"}), "abacus");
  EXPECT_EQ(millrace({"run", model}).exit_code, 2) << "no input";
}

}  // namespace
}  // namespace millrace::test
