// `millrace golden`: compares output files, named as a board's sample programs name them, with
// Millrace's own outputs.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr size_t kClasses = 40;
constexpr size_t kFrameBytes = kClasses * sizeof(float);
const std::string kMlVartFile = "infer_out0-float32_1x40_scores.bin";

// The outputs of the "board" are Millrace's own for the same network; tests then change the files.
class GoldenTest : public CliTest {
 protected:
  GoldenTest() { fs::create_directory(file("board")); }

  // Writes `frames` frames of input and our own outputs for them.
  void make_reference(uint32_t frames, const std::vector<std::string>& compile_flags = {}) {
    std::vector<float> pixels(frames * 32 * 32);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7 % 256) / 255;
    write("image.bin", std::as_bytes(std::span(pixels)));
    model_ = compiled("glyphs.rai", compile_flags);
    const ProgramResult result =
        millrace({"run", model_, "--input", file("image.bin"), "--output-dir", file("ours")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto bytes = io::read_file(file("ours/scores.bin"));
    ASSERT_TRUE(bytes.ok());
    scores_.resize(bytes->size() / sizeof(float));
    std::memcpy(scores_.data(), bytes->data(), bytes->size());
  }

  void write(const std::string& name, std::span<const std::byte> bytes) const {
    fs::create_directories(fs::path(file(name)).parent_path());
    ASSERT_TRUE(io::write_file(file(name), bytes).ok());
  }
  void write_scores(const std::string& name) const {
    write("board/" + name, std::as_bytes(std::span(scores_)));
  }

  ProgramResult golden(std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"golden", model_, file("board"), "--input", file("image.bin"),
                                 "--input-view", "cpu"});
    return millrace(flags);
  }
  nlohmann::json golden_json(int exit_code, std::vector<std::string> flags = {}) const {
    flags.emplace_back("--json");
    const ProgramResult result = golden(flags);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }
  static void expect_no_comparison(const ProgramResult& result, const std::string& reason) {
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_EQ(result.out, "");
  }

  std::string model_;
  std::vector<float> scores_;
};

TEST_F(GoldenTest, FindsTheFilesOfEverySampleProgram) {
  make_reference(1);
  for (const std::string& name :
       {kMlVartFile, "iter3_" + kMlVartFile, std::string("output_f9_0.bin"),
        std::string("output_p1_f9_0.bin"), std::string("ofm_model_2/scores_1x40_float32.bin")})
    write_scores(name);
  const nlohmann::json json = golden_json(0);
  EXPECT_EQ(json["equal"], true);
  std::vector<std::string> files;
  for (const auto& entry : json["files"]) {
    files.push_back(fs::relative(entry["file"].get<std::string>(), file("board")));
    EXPECT_EQ(entry["tensor"], "scores");
    EXPECT_EQ(entry["frames"], 1);
    EXPECT_EQ(entry["max_steps"], 0);
    EXPECT_NEAR(entry["cosine"].get<double>(), 1, 1e-12);
    EXPECT_FALSE(entry.contains("first_difference"));
  }
  EXPECT_THAT(files, ElementsAre(kMlVartFile, "iter3_" + kMlVartFile, "output_f9_0.bin",
                                 "output_p1_f9_0.bin", "ofm_model_2/scores_1x40_float32.bin"));
}

TEST_F(GoldenTest, ADirectoryOfOneModelIsTakenItself) {
  make_reference(1);
  write("ofm_model_0/scores_1x40_float32.bin", std::as_bytes(std::span(scores_)));
  EXPECT_EQ(millrace({"golden", model_, file("ofm_model_0"), "--input", file("image.bin"),
                      "--input-view", "cpu"})
                .exit_code,
            0);
}

TEST_F(GoldenTest, TakesWhatRunWrote) {
  make_reference(3);
  const ProgramResult result = millrace(
      {"golden", model_, file("ours"), "--input", file("image.bin"), "--input-view", "cpu"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("ours/scores.bin\n  scores (cpu view), 3 of 3 frames\n"));
}

TEST_F(GoldenTest, PicturesArePreprocessedAsRunDoes) {
  const std::string grey = "P5\n2 2\n255\n" + std::string(4, '\x60');
  write("photo.pgm", std::as_bytes(std::span(grey)));
  model_ = compiled("glyphs.rai");
  const std::vector<std::string> stated = {"--input", file("photo.pgm"), "--normalize", "unit"};
  std::vector<std::string> run = {"run", model_, "--output-dir", file("ours")};
  run.insert(run.end(), stated.begin(), stated.end());
  ASSERT_EQ(millrace(run).exit_code, 0);
  std::vector<std::string> golden = {"golden", model_, file("ours")};
  golden.insert(golden.end(), stated.begin(), stated.end());
  EXPECT_EQ(millrace(golden).exit_code, 0);
  golden.back() = "none";
  EXPECT_EQ(millrace(golden).exit_code, 3) << "as other pixels";
}

TEST_F(GoldenTest, NamesTheFirstDifferenceAndCountsInSteps) {
  make_reference(3);
  const float largest =
      *std::ranges::max_element(scores_, {}, [](float score) { return std::abs(score); });
  const float step = std::ldexp(1.0F, std::ilogb(largest) - 23);  // of FLOAT32, at that magnitude
  const size_t changed = 2 * kClasses + 17;
  scores_[changed] = 0;
  write_scores(kMlVartFile);
  const nlohmann::json entry = golden_json(3)["files"][0];
  EXPECT_EQ(entry["frames"], 3);
  EXPECT_EQ(entry["step"].get<float>(), step);
  const nlohmann::json& first = entry["first_difference"];
  EXPECT_EQ(first["frame"], 2);
  EXPECT_EQ(first["index"], 17);
  EXPECT_EQ(first["coordinates"], nlohmann::json({0, 17}));
  EXPECT_EQ(first["theirs"], 0.0);
  const double steps = std::abs(first["ours"].get<double>()) / step;
  EXPECT_FLOAT_EQ(entry["max_steps"].get<float>(), static_cast<float>(steps));
  const double mean = steps / (3 * kClasses);
  EXPECT_NEAR(entry["mean_steps"].get<double>(), mean, mean * 1e-5);
}

TEST_F(GoldenTest, TheToleranceDecidesTheExitCode) {
  make_reference(1);
  size_t largest = 0;
  for (size_t i = 0; i < kClasses; ++i)
    if (std::abs(scores_[i]) > std::abs(scores_[largest])) largest = i;
  scores_[largest] = std::nextafter(scores_[largest], 0.0F);  // one step, at the largest magnitude
  write_scores(kMlVartFile);
  EXPECT_EQ(golden_json(3)["equal"], false);
  EXPECT_EQ(golden_json(3, {"--tolerance", "0.5"})["equal"], false);
  EXPECT_EQ(golden_json(0, {"--tolerance", "1"})["equal"], true);
}

TEST_F(GoldenTest, ElementsMayDifferByAShareOrAnAmount) {
  make_reference(1);
  const auto exit_code = [&](std::vector<std::string> flags) { return golden(flags).exit_code; };
  for (float& score : scores_) score *= 1.005F;
  write_scores(kMlVartFile);
  EXPECT_EQ(exit_code({"--rtol", "0.01"}), 0);
  EXPECT_EQ(exit_code({"--rtol", "0.001"}), 3);
  EXPECT_EQ(exit_code({"--rtol", "0.001", "--atol", "1e6"}), 0) << "the sum counts";
  EXPECT_EQ(exit_code({"--rtol", "0.01", "--tolerance", "0"}), 0) << "one of both is enough";
  const nlohmann::json json = golden_json(3, {"--rtol", "0.001"});
  EXPECT_EQ(json["tolerances"], nlohmann::json({{"rtol", 0.001}}));
  EXPECT_NEAR(json["files"][0]["max_relative"].get<double>(), 0.005 / 1.005, 1e-5);
}

TEST_F(GoldenTest, ACosineJudgesTheTensorAsAWhole) {
  make_reference(1);
  const auto exit_code = [&](std::vector<std::string> flags) { return golden(flags).exit_code; };
  for (float& score : scores_) score *= 2;
  write_scores(kMlVartFile);
  EXPECT_EQ(exit_code({"--cosine", "0.9999"}), 0);
  EXPECT_EQ(exit_code({"--cosine", "0.9999", "--rtol", "0.01"}), 3) << "both are to hold";
  std::ranges::reverse(scores_);
  write_scores(kMlVartFile);
  const ProgramResult other = golden({"--cosine", "0.9999"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.out, HasSubstr("1 of 1 files are not equal within a cosine of 0.9999\n"));
  scores_[0] = std::numeric_limits<float>::quiet_NaN();
  write_scores(kMlVartFile);
  EXPECT_EQ(exit_code({"--cosine", "-1"}), 3) << "what is no number is never equal";
  expect_wrong_command_line(golden({"--cosine", "2"}), "2 is greater than 1");
}

TEST_F(GoldenTest, TakesArraysAndNamedFiles) {
  make_reference(1);
  const ProgramResult arrays = millrace({"run", model_, "--input", file("image.bin"),
                                         "--output-dir", file("board"), "--output-format", "npy"});
  ASSERT_EQ(arrays.exit_code, 0) << arrays.err;
  const nlohmann::json found = golden_json(0)["files"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["view"], "cpu");
  fs::rename(file("board/scores.npy"), file("reference.npy"));
  write("reference.raw", std::as_bytes(std::span(scores_)));
  const auto named = [&](const std::string& output) {
    return millrace({"golden", model_, "--output", output, "--input", file("image.bin"),
                     "--input-view", "cpu"});
  };
  EXPECT_EQ(named("scores=" + file("reference.npy")).exit_code, 0);
  EXPECT_EQ(named(file("reference.raw")).exit_code, 0) << "the only output needs no name";
  expect_no_comparison(named("score=" + file("reference.npy")),
                       "the model has no output 'score'; its outputs are scores; did you mean");
  expect_no_comparison(named(file("image.bin")), "a frame of output 'scores' has 160");
  expect_no_comparison(named(file("none.npy")), "none.npy");
  expect_wrong_command_line(golden({"--output", file("reference.npy")}), "not both");
}

TEST_F(GoldenTest, AJUnitFileHasACaseForEachFile) {
  make_reference(1);
  write_scores(kMlVartFile);
  scores_[5] += 1;
  write_scores("iter1_" + kMlVartFile);
  EXPECT_EQ(golden({"--junit", file("report.xml")}).exit_code, 3);
  const auto bytes = io::read_file(file("report.xml"));
  ASSERT_TRUE(bytes.ok());
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_THAT(text, HasSubstr("<failure message=\"not equal within 0 steps\">"));
  EXPECT_THAT(text, HasSubstr("first difference: frame 0 element 5 [0,5]: ours "));
}

TEST_F(GoldenTest, TextSaysTheSame) {
  make_reference(1);
  write_scores(kMlVartFile);
  const ProgramResult equal = golden();
  EXPECT_EQ(equal.exit_code, 0) << equal.err;
  EXPECT_THAT(equal.out, HasSubstr(kMlVartFile + "\n  scores (hw view), 1 of 1 frames\n"));
  EXPECT_THAT(equal.out, HasSubstr("max 0 mean 0; cosine 1.000000000\n"));
  EXPECT_THAT(equal.out, HasSubstr("\nequal within 0 steps\n"));
  scores_[5] += 1;
  write_scores(kMlVartFile);
  const ProgramResult different = golden();
  EXPECT_EQ(different.exit_code, 3);
  EXPECT_THAT(different.out, HasSubstr("first difference: frame 0 element 5 [0,5]: ours "));
  EXPECT_THAT(different.out, HasSubstr("\n1 of 1 files are not equal within 0 steps\n"));
}

TEST_F(GoldenTest, WhatIsNoNumberDiffersFromEveryNumber) {
  make_reference(1);
  scores_[3] = std::numeric_limits<float>::quiet_NaN();
  write_scores(kMlVartFile);
  const nlohmann::json entry = golden_json(3, {"--tolerance", "1e30"})["files"][0];
  EXPECT_EQ(entry["first_difference"]["index"], 3);
  EXPECT_TRUE(entry["max_steps"].is_null()) << "infinite";
}

TEST_F(GoldenTest, TheCosineIsANumberWhateverTheValues) {
  using Limits = std::numeric_limits<float>;
  make_reference(1);
  const auto cosine_with = [&](float theirs) {
    scores_.assign(kClasses, theirs);
    write_scores(kMlVartFile);
    return golden_json(3)["files"][0]["cosine"];
  };
  const nlohmann::json of_ones = cosine_with(1);
  ASSERT_TRUE(of_ones.is_number());
  for (const float same_direction : {Limits::denorm_min(), Limits::max(), Limits::infinity()})
    EXPECT_EQ(cosine_with(same_direction), of_ones) << same_direction;
  EXPECT_EQ(cosine_with(Limits::quiet_NaN()), 0);
}

TEST_F(GoldenTest, NamesGiveTheViewOfEveryPrecision) {
  make_reference(1, {"--precision", "bf16"});
  write_scores(kMlVartFile);  // BF16 widened to the CPU view
  std::vector<uint16_t> halves;
  for (const float score : scores_)
    halves.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(score) >> 16));
  const auto bytes = std::as_bytes(std::span(halves));
  write("board/iter1_infer_out0-bf16_1x40_scores.bin", bytes);
  write("board/ofm_model_0/scores_1x40_bfloat16.bin", bytes);
  const nlohmann::json json = golden_json(0);
  EXPECT_EQ(json["files"][0]["view"], "cpu");
  EXPECT_EQ(json["files"][1]["view"], "hw");
  EXPECT_EQ(json["files"][2]["view"], "hw");
}

TEST_F(GoldenTest, SizesGiveTheViewWhereTheyCan) {
  make_reference(1, {"--precision", "bf16"});
  write_scores("output_p1_f9_0.bin");
  EXPECT_EQ(golden_json(0)["files"][0]["view"], "cpu");
  // With batches of two, one frame of the CPU view is as large as two of the HW view.
  model_ = compiled("pairs.rai", {"--precision", "bf16", "--batch", "2"});
  expect_no_comparison(golden(), "--view");
  EXPECT_EQ(golden_json(0, {"--view", "cpu"})["files"][0]["view"], "cpu");
}

TEST_F(GoldenTest, ComparesTheFramesThatBothSidesHave) {
  make_reference(1);
  const std::vector<float> one = scores_;
  scores_.insert(scores_.end(), one.begin(), one.end());
  write_scores(kMlVartFile);
  const nlohmann::json entry = golden_json(0)["files"][0];
  EXPECT_EQ(entry["frames"], 1);
  EXPECT_EQ(entry["frames_in_file"], 2);
}

TEST_F(GoldenTest, InputsAreFoundByTheTensorsName) {
  make_reference(1);
  write_scores(kMlVartFile);
  const ProgramResult result = millrace({"golden", model_, file("board"), "--inputs-from",
                                         directory_.path().string(), "--input-view", "cpu"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(GoldenTest, RawInputsOfEitherViewAreRecognised) {
  make_reference(1, {"--precision", "bf16"});
  write_scores("output_p1_f9_0.bin");
  // 4,096 bytes are a frame of the CPU view, and half a frame of the HW view.
  EXPECT_EQ(millrace({"golden", model_, file("board"), "--input", file("image.bin")}).exit_code, 0);
  write("image.bin", std::vector<std::byte>(2 * 32 * 32 * 4));
  expect_no_comparison(millrace({"golden", model_, file("board"), "--input", file("image.bin")}),
                       "--input-view");
}

TEST_F(GoldenTest, WhatCannotBeComparedIsNamedWithItsExpectedSize) {
  make_reference(1);
  expect_no_comparison(golden(), "holds no output files of this model, such as " + kMlVartFile);
  write("board/" + kMlVartFile, std::vector<std::byte>(kFrameBytes - 1));
  expect_no_comparison(golden(),
                       kMlVartFile + " has 159 bytes, a frame of output 'scores' has 160");
  fs::remove(file("board/" + kMlVartFile));
  write_scores("infer_out0-int8_1x40_scores.bin");
  expect_no_comparison(golden(), "infer_out0-int8_1x40_scores.bin should be " + kMlVartFile);
  fs::remove(file("board/infer_out0-int8_1x40_scores.bin"));
  write_scores("output_p1_f9_1.bin");
  const ProgramResult result = golden();
  expect_no_comparison(result, "output_p1_f9_1.bin is of output 1, but the model has 1");
  EXPECT_THAT(result.err, HasSubstr("output_p1_f9_0.bin is missing (160 bytes per frame)"));
}

TEST_F(GoldenTest, OtherFailuresAreNoComparisonEither) {
  make_reference(1);
  write_scores(kMlVartFile);
  expect_no_comparison(millrace({"golden", "none.rai", file("board"), "--input", "a.bin"}),
                       "none.rai");
  expect_no_comparison(millrace({"golden", model_, "none", "--input", "a.bin"}), "none");
  expect_no_comparison(millrace({"golden", model_, file("board"), "--input", "none.bin"}),
                       "none.bin");
  expect_wrong_command_line(millrace({"golden", model_, file("board")}), "required");
}

}  // namespace
}  // namespace millrace::test
