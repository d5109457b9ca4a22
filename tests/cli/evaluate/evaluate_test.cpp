// `millrace evaluate` on the shipped network and its held-back pictures.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "graph/archive/codec.h"
#include "io/file.h"
#include "io/npy.h"
#include "model/archive_writer.h"
#include "tests/cli/cli_fixture.h"
#include "tests/support/relu_model.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kImages = kGlyphsFolder + "heldback_images.npy";
const std::string kLabels = kGlyphsFolder + "heldback_labels.npy";
const std::string kClasses = kGlyphsFolder + "classes.txt";

class EvaluateTest : public CliTest {
 protected:
  ProgramResult evaluate(const std::string& model, std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"evaluate", model, "--scale", "0.0039215686"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return millrace(arguments);
  }

  nlohmann::json evaluated(const std::string& model, std::vector<std::string> flags) const {
    flags.push_back("--json");
    const ProgramResult result = evaluate(model, std::move(flags));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? nlohmann::json::parse(result.out) : nlohmann::json();
  }

  // The first pictures of the held-back set as files, in a folder for each class.
  std::string folder_of_classes(size_t pictures) const {
    const auto images = io::read_npy(kImages);
    const auto labels = io::read_npy(kLabels);
    const auto classes = io::read_lines(kClasses);
    EXPECT_TRUE(images.ok() && labels.ok() && classes.ok());
    for (size_t i = 0; i < pictures; ++i) {
      const std::filesystem::path folder =
          directory_.path() / "pictures" / (*classes)[std::to_integer<size_t>(labels->bytes[i])];
      std::filesystem::create_directories(folder);
      const auto* pixels = reinterpret_cast<const char*>(images->bytes.data()) + i * 32 * 32;
      const std::string picture = "P5\n32 32\n255\n" + std::string(pixels, 32 * 32);
      EXPECT_TRUE(io::write_file((folder / (std::to_string(i) + ".ppm")).string(),
                                 std::as_bytes(std::span(picture)))
                      .ok());
    }
    return file("pictures");
  }
};

// models/glyphs/README.md says how many it reads right.
TEST_F(EvaluateTest, ASetOfPicturesInAnArray) {
  const ProgramResult result =
      evaluate(compiled("glyphs.rai"), {"--data", kImages, "--labels", kLabels});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1200 samples, 40 classes\n"));
  EXPECT_THAT(result.out, HasSubstr("fp32       99.83 % (1198)    100.00 % (1200)\n"));
  EXPECT_THAT(result.err, testing::IsEmpty()) << "progress is for terminals";
}

TEST_F(EvaluateTest, OtherCompilationsAreCompared) {
  const std::string bf16 = compiled("bf16.rai", {"--precision", "bf16", "--batch", "7"});
  const auto json = evaluated(
      compiled("glyphs.rai"),
      {"--data", kImages, "--labels", kLabels, "--against", bf16, "--against", kGlyphsOnnx});
  ASSERT_EQ(json["models"].size(), 3u);
  EXPECT_EQ(json["models"][0]["top1_samples"], 1198);
  EXPECT_EQ(json["models"][1]["precision"], "bf16");
  EXPECT_GE(json["models"][1]["top1"], 0.9963);
  EXPECT_GT(json["models"][1]["cosine_least"], 0.999);
  EXPECT_LT(json["models"][1]["cosine_mean"], 1 - 1e-7) << "compared with itself";
  EXPECT_EQ(json["models"][2]["same_top1"], 1.0);
}

TEST_F(EvaluateTest, AQuantisedModelIsNamedSo) {
  const std::string int8 =
      compiled("int8.rai", {"--precision", "int8", "--calibrate",
                            kGlyphsFolder + "calibration_images.npy", "--scale", "0.0039215686"});
  const auto json = evaluated(compiled("glyphs.rai"),
                              {"--data", kImages, "--labels", kLabels, "--against", int8});
  EXPECT_EQ(json["models"][0]["precision"], "fp32");
  EXPECT_EQ(json["models"][1]["precision"], "int8");
  EXPECT_GE(json["models"][1]["top1"], json["models"][0]["top1"].get<double>() - 0.005);
}

TEST_F(EvaluateTest, AFolderForEachClass) {
  const auto json =
      evaluated(compiled("glyphs.rai"), {"--data", folder_of_classes(50), "--labels", kClasses});
  EXPECT_EQ(json["samples"], 50);
  EXPECT_GE(json["models"][0]["top1_samples"], 48);
}

TEST_F(EvaluateTest, APartIsTakenEvenly) {
  const auto json = evaluated(compiled("glyphs.rai"), {"--data", kImages, "--labels", kLabels,
                                                       "--limit", "30", "--top", "1"});
  EXPECT_EQ(json["samples"], 30);
  EXPECT_GE(json["models"][0]["top1_samples"], 28) << "with labels of other samples, one or two";
}

TEST_F(EvaluateTest, WithoutLabelsModelsAreOnlyCompared) {
  const std::string model = compiled("glyphs.rai");
  const ProgramResult result =
      evaluate(model, {"--data", kImages, "--limit", "9", "--against", model});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("100.00 % (9)      1.000000, 1.000000\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("top-5")));
}

TEST_F(EvaluateTest, OpenInputsTakeAShape) {
  const std::string open = compiled("open.rai", {"--input-shape", "image=?,1,32,32"});
  const std::vector<std::string> data = {"--data", kImages, "--labels", kLabels, "--limit", "60"};
  expect_failure(evaluate(open, data), "--shape");
  std::vector<std::string> with_shape = data;
  with_shape.insert(with_shape.end(), {"--shape", "image=1,1,32,32"});
  EXPECT_EQ(evaluated(open, with_shape)["models"][0]["top1_samples"],
            evaluated(compiled("glyphs.rai"), data)["models"][0]["top1_samples"]);
}

TEST_F(EvaluateTest, WhatMakesNoSenseIsRefusedByName) {
  const std::string model = compiled("glyphs.rai");
  expect_wrong_command_line(evaluate(model, {"--data", kImages}), "--labels");
  expect_failure(evaluate(model, {"--data", "none", "--labels", kLabels}), "none");
  expect_failure(evaluate(model, {"--data", kImages, "--labels", "none.csv"}), "none.csv");
  expect_failure(evaluate(model, {"--data", kImages, "--labels", kImages}), "labels for 1200");
  expect_failure(evaluate(model, {"--data", kImages, "--labels", kLabels, "--output", "boxes"}),
                 "scores");
  expect_failure(evaluate(model, {"--data", kImages, "--labels", kClasses}), "heldback_images.npy");
  ASSERT_TRUE(model::write_archive(graph::encode(relu_model({{"scores", {1, 40}}})),
                                   file("other.rai"), model::ArchiveForm::kFile)
                  .ok());
  expect_failure(evaluate(model, {"--data", kImages, "--against", file("other.rai")}),
                 "differ in type or shape");
  EXPECT_EQ(evaluate(model, {"--data", kImages, "--classes", kClasses}).exit_code, 2);
  EXPECT_EQ(evaluate(model, {"--data", kImages, "--labels", kLabels, "--limit", "-1"}).exit_code,
            2);
}

}  // namespace
}  // namespace millrace::test
