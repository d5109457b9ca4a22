// samples/vart_zerocopy on photographs and a real network, as its users run it.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <cstring>
#include <optional>

#include "source_dir.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class ZeroCopySample : public testing::Test {
 protected:
  void SetUp() override {
    onnx_ = test_model("models/mobilenetv2_fp32.onnx");
    const auto labels = test_model("labels/imagenet_synset.txt");
    if (!onnx_ || !labels) GTEST_SKIP() << "no test models beside the project";
    setenv("ZEROCOPY_LABELS", labels->c_str(), 1);
    setenv("ZEROCOPY_XCLBIN", labels->c_str(), 1);  // of any content
  }
  ~ZeroCopySample() override {
    unsetenv("ZEROCOPY_LABELS");
    unsetenv("ZEROCOPY_XCLBIN");
  }

  std::string compiled(const std::string& precision) const { return compiled(*onnx_, precision); }
  std::string compiled(const std::string& onnx, const std::string& precision) const {
    const std::string path = directory_.file(precision + ".rai");
    const ProgramResult result =
        run_program({MILLRACE_PROGRAM, "compile", onnx, "-o", path, "--precision", precision},
                    directory_.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return path;
  }
  ProgramResult classify(const std::string& picture, const std::string& model,
                         std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {MILLRACE_ZEROCOPY, picture, model});
    return run_program(flags, directory_.path().string());
  }
  static std::string photo(const std::string& name) { return *test_model("images/" + name); }

  std::optional<std::string> onnx_;
  const TemporaryDirectory directory_;
};

struct Photo {
  const char* file;
  const char* answer;
};
constexpr Photo kPhotos[] = {{"kitten_224.png", "tabby, tabby cat\" index=281 score=0."},
                             {"goldfish.jpg", "goldfish, Carassius auratus\" index=1 score=0.9"},
                             {"coffee.png", "espresso\" index=967 score=0.9"}};

// With pictures of two bytes per channel.
class ZeroCopyIn16Bits : public ZeroCopySample, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, ZeroCopyIn16Bits, testing::Values("bf16", "fp16"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ZeroCopyIn16Bits, NamesPhotographsWithoutCopyingABufferOfTheNetwork) {
  const std::string model = compiled(GetParam());
  for (const auto& [file, answer] : kPhotos) {
    const ProgramResult result = classify(photo(file), model);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(answer));
    EXPECT_THAT(result.out, HasSubstr("IFM and OFM bytes copied per frame: 0\n"));
  }
}

TEST_P(ZeroCopyIn16Bits, NamesTheSameWithTensorsThatAreConverted) {
  const std::string model = compiled(GetParam());
  const size_t bytes = (3 * 224 * 224 + 1000) * sizeof(float);
  for (const auto& [file, answer] : kPhotos) {
    const ProgramResult result = classify(photo(file), model, {"-c", "-n", "2"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(answer));
    EXPECT_THAT(result.out,
                HasSubstr("IFM and OFM bytes copied per frame: " + std::to_string(bytes) + "\n"));
  }
}

TEST_F(ZeroCopySample, TakesTheCpuViewOfAnFp32Program) {
  const std::string model = compiled("fp32");
  for (const auto& [file, answer] : kPhotos) {
    const ProgramResult cpu = classify(photo(file), model, {"--non-zero-copy"});
    EXPECT_EQ(cpu.exit_code, 0) << cpu.err;
    EXPECT_THAT(cpu.out, HasSubstr(answer));
  }
  const ProgramResult hw = classify(photo("goldfish.jpg"), model);
  EXPECT_EQ(hw.exit_code, 1);
  EXPECT_THAT(hw.err, HasSubstr("no picture format has these elements"));
}

// The input of this network is UINT8 with zero point 114. The vendor's program ignores zero points;
// with HW views this program does, too.
TEST_F(ZeroCopySample, NamesPhotographsByAQuantisedNetworkWithAZeroPoint) {
  const auto qdq = test_model("models/mobilenetv2-12-qdq.onnx");
  if (!qdq) GTEST_SKIP() << "no quantised test model beside the project";
  const std::string model = compiled(*qdq, "fp32");
  for (const auto& [file, answer] : kPhotos) {
    const std::string label(answer, std::strchr(answer, '"'));
    const ProgramResult result = classify(photo(file), model);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(label));
    EXPECT_THAT(result.out, HasSubstr("IFM and OFM bytes copied per frame: 0\n"));
  }
}

// Four lanes are no sign of three channels.
TEST_F(ZeroCopySample, RefusesAModelOfGreyPictures) {
  const std::string grey = MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx";
  const ProgramResult result = classify(photo("goldfish.jpg"), compiled(grey, "bf16"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no picture of three channels"));
}

TEST_F(ZeroCopySample, PrintsWhatAFrameTakes) {
  const ProgramResult result = classify(photo("goldfish.jpg"), compiled("bf16"), {"--runs", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* stage : {"preprocess", "infer", "postprocess", "total"})
    EXPECT_THAT(result.out,
                ContainsRegex(std::string("\n") + stage + " +: +[0-9]+\\.[0-9]{3} ms / frame\n"));
  for (const char* part : {"infer", "pipeline"})
    EXPECT_THAT(result.out, ContainsRegex(std::string("\nthroughput \\(") + part +
                                          "\\) +: +[0-9]+\\.[0-9]{3} FPS\n"));
  EXPECT_THAT(result.out, testing::EndsWith("Finished successfully.\n"));
}

TEST_F(ZeroCopySample, SaysWhatIsMissing) {
  const std::string model = compiled("bf16");
  EXPECT_THAT(classify("no-such.jpg", model).err, HasSubstr("Error: no-such.jpg cannot be opened"));
  EXPECT_THAT(classify(photo("goldfish.jpg"), "no-such.rai").err, HasSubstr("Error: "));
  setenv("ZEROCOPY_LABELS", "no-such-labels.txt", 1);
  const ProgramResult no_labels = classify(photo("goldfish.jpg"), model);
  EXPECT_EQ(no_labels.exit_code, 1);
  EXPECT_THAT(no_labels.err, HasSubstr("no-such-labels.txt"));
}

}  // namespace
}  // namespace millrace::test
