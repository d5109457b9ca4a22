#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

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

TEST_F(RunTest, FewerLabelsThanClassesAreNoticed) {
  const std::string text = "one\ntwo\n";
  ASSERT_TRUE(io::write_file(file("two.txt"), std::as_bytes(std::span(text))).ok());
  const ProgramResult result =
      millrace({"run", compiled("glyphs.rai"), "--input", raw_input("a.bin", picture(0)), "--top",
                "1", "--labels", file("two.txt")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("note: --labels names 2 classes, but output 'scores' has 40"));
}

class RunPictureTest : public RunTest {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(io::write_file(file(name), std::as_bytes(std::span(bytes))).ok());
    return file(name);
  }
  ProgramResult run(const std::string& input, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"run", kGlyphsOnnx, "--top", "1", "--input", input});
    return millrace(flags);
  }

  const std::string grey_ = "P5\n2 2\n255\n" + std::string(4, '\x60');
};

TEST_F(RunPictureTest, APictureWithoutPreprocessingGivesALineToPaste) {
  const std::string photo = write("photo.pgm", grey_);
  const ProgramResult result = run(photo);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("note: how pictures are preprocessed was not stated"));
  EXPECT_THAT(result.err, HasSubstr("--resize crop --short-side 37 --mean 0 --scale 0.00392157"));
  for (const std::vector<std::string>& stated : std::vector<std::vector<std::string>>{
           {"--normalize", "none"}, {"--scale", "0.0039"}, {"--mean", "0"}, {"--std", "255"}})
    EXPECT_EQ(run(photo, stated).err, "") << stated[0];
  EXPECT_EQ(run(photo, {"--normalize", "unit"}).out, run(photo, {"--std", "255"}).out);
}

TEST_F(RunPictureTest, APictureIsRecognisedByItsContent) {
  const std::vector<std::string> unit = {"--normalize", "unit"};
  const std::string out = run(write("photo.pgm", grey_), unit).out;
  EXPECT_EQ(run(write("photo", grey_), unit).out, out);
  EXPECT_EQ(run(write("photo.dat", grey_), unit).out, out);
  expect_failure(run(write("moving.gif", "GIF89a...")),
                 "moving.gif is a GIF picture, which is not read: pictures are JPEG, PNG");
  expect_failure(run(write("moving", "GIF89a...")), "a GIF picture");
  expect_failure(run("-"), "standard input is not read");
}

// Errors of the libraries that decode are put into words of the program.
TEST_F(RunPictureTest, ADamagedPictureIsCalledSo) {
  expect_failure(run(write("a.png", "\x89PNG\r\n\x1A\nrubbish")), "a.png: the PNG is damaged");
  expect_failure(run(write("a.jpg", "\xFF\xD8\xFFrubbish")), "a.jpg: the file ends in the middle");
  expect_failure(run(write("a.pgm", "P5\n2 x")), "a.pgm: the BMP or PNM is damaged");
}

TEST_F(RunPictureTest, SeveralPicturesAndFoldersAreFurtherFrames) {
  std::filesystem::create_directory(file("photos"));
  write("photos/b.pgm", grey_);
  write("photos/a.pgm", grey_);
  write("photos/notes.txt", "no picture");
  const ProgramResult result =
      run(write("first.pgm", grey_), {"--normalize", "unit", "--input", file("photos"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto frames = nlohmann::json::parse(result.out)["frames"];
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0]["source"], file("first.pgm"));
  EXPECT_EQ(frames[1]["source"], file("photos/a.pgm"));
  EXPECT_EQ(frames[2]["source"], file("photos/b.pgm"));
  EXPECT_EQ(frames[0]["outputs"], frames[2]["outputs"]) << "of the same picture";
  EXPECT_EQ(frames[0]["outputs"][0]["name"], "scores");
  EXPECT_EQ(frames[0]["outputs"][0]["top"].size(), 1u);
}

TEST_F(RunPictureTest, OutputsAreWrittenAsArrays) {
  const std::string photo = write("photo.pgm", grey_);
  const std::vector<std::string> unit = {"--normalize",     "unit", "--output-dir", file("out"),
                                         "--output-format", "npy"};
  ASSERT_EQ(run(photo, unit).exit_code, 0);
  const auto one = io::read_npy(file("out/scores.npy"));
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one->shape, (std::vector<uint32_t>{1, 40}));
  std::vector<std::string> twice = unit;
  twice.insert(twice.end(), {"--input", photo, "--sandbox"});
  ASSERT_EQ(run(photo, twice).exit_code, 0);
  const auto two = io::read_npy(file("out/scores.npy"));
  ASSERT_TRUE(two.ok()) << two.status().message();
  EXPECT_EQ(two->shape, (std::vector<uint32_t>{2, 1, 40}));
  EXPECT_EQ(std::memcmp(two->bytes.data(), one->bytes.data(), one->bytes.size()), 0);
  expect_wrong_command_line(run(photo, {"--output-format", "npy", "--view", "hw"}), "--view cpu");
}

TEST_F(RunPictureTest, AStackOfPicturesIsTakenAsEvaluateTakesIt) {
  const ProgramResult result = run(kGlyphsFolder + "heldback_images.npy", {"--normalize", "unit"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("frame 1199  " + kGlyphsFolder + "heldback_images.npy[1199]\n"));
}

TEST_F(RunTest, FlagsWithoutEffectAreRefused) {
  const std::string model = compiled("glyphs.rai"), input = raw_input("a.bin", picture(0));
  const ProgramResult labels =
      millrace({"run", model, "--input", input, "--labels", kGlyphsFolder + "classes.txt"});
  EXPECT_EQ(labels.exit_code, 2);
  EXPECT_THAT(labels.err, HasSubstr("--labels requires --top"));
  expect_wrong_command_line(millrace({"run", model, "--input", input, "--short-side", "40"}),
                            "--resize crop");
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
  expect_failure(millrace({"run", model, "--input", "photo=" + short_input}),
                 "the model has no input 'photo'; its inputs are image");
  expect_failure(millrace({"run", model, "--input", "imgae=" + short_input}),
                 "did you mean image?");
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
