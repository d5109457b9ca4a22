// Runs photographs through the command-line program, as a user would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

struct Photo {
  const char* file;
  const char* answer;
};

void PrintTo(const Photo& photo, std::ostream* out) {
  *out << photo.file;
}

class PhotoTest : public testing::TestWithParam<Photo> {
 protected:
  // The output of `millrace run` for the photograph and a model with its own preprocessing.
  static std::string read_photo(const std::string& model, std::vector<std::string> preprocessing) {
    const auto photo = test_model(std::string("images/") + GetParam().file);
    const auto labels = test_model("labels/imagenet_synset.txt");
    const auto onnx = test_model("models/" + model);
    if (!photo || !labels || !onnx) return "no test models";
    std::vector<std::string> command = {MILLRACE_PROGRAM, "run", *onnx,      "--input", *photo,
                                        "--top",          "1",   "--labels", *labels};
    command.insert(command.end(), preprocessing.begin(), preprocessing.end());
    const TemporaryDirectory directory;
    const ProgramResult result = run_program(command, directory.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_P(PhotoTest, SqueezenetNamesIt) {
  const std::string out = read_photo(
      "squeezenet1.1_fp32.onnx",
      {"--resize", "crop", "--short-side", "256", "--order", "bgr", "--mean", "104,117,123"});
  if (out == "no test models") GTEST_SKIP() << "no test models beside the project";
  EXPECT_THAT(out, HasSubstr(GetParam().answer));
}

TEST_P(PhotoTest, MobilenetNamesIt) {
  const std::string out =
      read_photo("mobilenetv2_fp32.onnx",
                 {"--resize", "crop", "--short-side", "256", "--mean", "123.675,116.28,103.53",
                  "--scale", "0.0171248,0.0175070,0.0174292"});
  if (out == "no test models") GTEST_SKIP() << "no test models beside the project";
  EXPECT_THAT(out, HasSubstr(GetParam().answer));
}

// Copied from what `millrace inspect` prints.
TEST_P(PhotoTest, MobilenetNamesItWithTheOptionsThatInspectPrints) {
  const auto onnx = test_model("models/mobilenetv2_fp32.onnx");
  if (!onnx) GTEST_SKIP() << "no test models beside the project";
  const TemporaryDirectory directory;
  const ProgramResult inspected =
      run_program({MILLRACE_PROGRAM, "inspect", *onnx, "--json"}, directory.path().string());
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  const auto pictures = nlohmann::json::parse(inspected.out)["inputs"][0]["pictures"];
  std::istringstream words(pictures["run_options"].get<std::string>());
  const std::vector<std::string> options(std::istream_iterator<std::string>(words), {});
  EXPECT_THAT(read_photo("mobilenetv2_fp32.onnx", options), HasSubstr(GetParam().answer));
}

INSTANTIATE_TEST_SUITE_P(Photos, PhotoTest,
                         testing::Values(Photo{"kitten_224.png", "tabby"},
                                         Photo{"goldfish.jpg", "goldfish"},
                                         Photo{"coffee.png", "espresso"}));

TEST(Mobilenet, Bf16InputIsTheDocumentedHwTensor) {
  const auto onnx = test_model("models/mobilenetv2_fp32.onnx");
  if (!onnx) GTEST_SKIP() << "no test models beside the project";
  const TemporaryDirectory directory;
  const ProgramResult result =
      run_program({MILLRACE_PROGRAM, "inspect", *onnx, "--precision", "bf16", "--json"},
                  directory.path().string());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto hw = nlohmann::json::parse(result.out)["inputs"][0]["hw"];
  EXPECT_EQ(hw["shape"], nlohmann::json({224, 1, 224, 1, 4}));
  EXPECT_EQ(hw["type"], "BF16");
  EXPECT_EQ(hw["layout"], "HCWNC4");
  EXPECT_EQ(hw["bytes"], 401408);
  EXPECT_EQ(hw["preprocess_colour_format"], "RGBX_BF16");
  const auto pictures = nlohmann::json::parse(result.out)["inputs"][0]["pictures"];
  EXPECT_EQ(pictures["preprocess_hw"]["colour-format"], "RGBX_BF16");
  EXPECT_EQ(pictures["preprocess_hw"]["resizing-type"], "PANSCAN");
  EXPECT_EQ(pictures["preprocess_cpu"]["colour-format"], "RGBP_FLOAT");
  EXPECT_EQ(pictures["preprocess_cpu"]["mean-r"], 123.675);
}

}  // namespace
}  // namespace millrace::test
