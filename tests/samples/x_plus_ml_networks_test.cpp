// samples/x_plus_ml with real networks on photographs; skipped where these are not beside the
// project.
#include <cmath>
#include <optional>
#include <sstream>

#include "tests/samples/face_network.h"
#include "tests/samples/x_plus_ml_fixture.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

class XPlusMlNetworks : public XPlusMlTest {
 protected:
  void SetUp() override {
    if (!test_model("models/mobilenetv2_fp32.onnx"))
      GTEST_SKIP() << "no test models beside the project";
  }

  static std::string photo(const std::string& name) { return *test_model("images/" + name); }

  Json classifier() const {
    return {{"inference-config",
             {{"model-file",
               compiled(*test_model("models/mobilenetv2_fp32.onnx"), "classifier.rai", "bf16")}}},
            {"preprocess-config",
             {{"mean-r", 123.675},
              {"mean-g", 116.28},
              {"mean-b", 103.53},
              {"scale-r", 1 / 58.395},
              {"scale-g", 1 / 57.12},
              {"scale-b", 1 / 57.375},
              {"maintain-aspect-ratio", true},
              {"resizing-type", "PANSCAN"}}},
            {"postprocess-config",
             {{"type", "SOFTMAX"}, {"label-file-path", *test_model("labels/imagenet_synset.txt")}}},
            {"metaconvert-config", Json::object()}};
  }

  Json detector() const {
    return {
        {"inference-config",
         {{"model-file", compiled(write("faces.onnx", yunet_with_one_list()), "faces.rai", "bf16")},
          {"runner-options", {{"output-tensor-type", "CPU"}}}}},
        {"preprocess-config",
         {{"mean-r", 0},
          {"mean-g", 0},
          {"mean-b", 0},
          {"scale-r", 1},
          {"scale-g", 1},
          {"scale-b", 1},
          {"colour-format", "BGRX_BF16"}}},
        {"postprocess-config",
         {{"type", "CLASSWISE_NMS"},
          {"conf-threshold", 0.5},
          {"nms-threshold", 0.3},
          {"label-file-path", write("faces.txt", "face\n")},
          {"model-params",
           {{"is-obj-score-included", true},
            {"grid-shape", {{40, 40}, {20, 20}, {10, 10}}},
            {"input-layout", {"NHWC"}},
            {"output-layout", {"NHC"}}}}}},
        {"metaconvert-config", {{"thickness", 3}}}};
  }
};

TEST_F(XPlusMlNetworks, NamesThePhotographsOfAFolder) {
  write("photos/1_kitten.png", bytes_of(photo("kitten_224.png")));
  const std::string goldfish = bytes_of(photo("goldfish.jpg"));
  write("photos/2_half.jpg", goldfish.substr(0, goldfish.size() / 2));
  write("photos/3_goldfish.jpg", goldfish);
  write("photos/4_coffee.png", bytes_of(photo("coffee.png")));
  const ProgramResult result = run(app({classifier()}), directory_.file("photos"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, ContainsRegex("frame 1, 2_half\\.jpg: .* ends in the middle"));
  EXPECT_THAT(result.out, HasSubstr("frames: 4, failed: 1\n"));
  EXPECT_THAT(output("postproc0_results.txt"),
              ContainsRegex("frame 0, 1_kitten\\.png\nclassification: label=\"[^\n]*tabby cat\" "
                            "[^\n]*\nframe 2, [^\n]*\nclassification: label=\"[^\n]*goldfish"
                            "[^\n]*\nframe 3, [^\n]*\nclassification: label=\"[^\n]*espresso"));
  EXPECT_THAT(files(), ElementsAre("overlay_00000_1_kitten.jpg", "overlay_00002_3_goldfish.jpg",
                                   "overlay_00003_4_coffee.jpg", "postproc0_results.txt"));
}

TEST_F(XPlusMlNetworks, FindsAFaceAndNamesThePictureInOneRun) {
  const ProgramResult result = run(app({classifier(), detector()}), photo("astronaut.png"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(output("postproc0_results.txt"), HasSubstr("classification: label="));
  // 112, 37, 57 x 74 in the 320 x 320 of the network.
  const std::string faces = output("postproc1_results.txt");
  int x = 0, y = 0, width = 0, height = 0;
  double score = 0;
  const size_t at = faces.find(" score=");
  ASSERT_NE(at, std::string::npos) << faces;
  ASSERT_EQ(std::sscanf(faces.c_str() + at, " score=%lf x=%d y=%d width=%d height=%d", &score, &x,
                        &y, &width, &height),
            5)
      << faces;
  constexpr double kScale = 512 / 320.0;
  EXPECT_NEAR(x, 112.3 * kScale, 6);
  EXPECT_NEAR(y, 36.9 * kScale, 6);
  EXPECT_NEAR(width, 56.5 * kScale, 8);
  EXPECT_NEAR(height, 73.7 * kScale, 8);
  EXPECT_NEAR(std::sqrt(score), 0.94, 0.03);
  EXPECT_THAT(faces, HasSubstr("detection: label=\"face\" class=0"));
  EXPECT_EQ(faces.find("detection", at), std::string::npos) << faces;
  EXPECT_THAT(files(), ElementsAre("overlay_00000_astronaut.jpg", "postproc0_results.txt",
                                   "postproc1_results.txt"));
}

}  // namespace
}  // namespace millrace::test
