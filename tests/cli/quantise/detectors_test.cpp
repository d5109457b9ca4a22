// Real detectors in INT8 find what they find in FP32. Skipped where the models are not beside the
// project.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/quantise/detections.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

struct Detector {
  const char* model;
  std::vector<std::string> pictures;       // on which it finds something
  std::vector<std::string> preprocessing;  // flags of compile and run
  Decode decode;
};

class Int8Detectors : public CliTest {
 protected:
  std::string compile(const std::string& name, const std::string& onnx, const Detector& detector,
                      std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"compile", onnx, "-o", file(name)});
    flags.insert(flags.end(), detector.preprocessing.begin(), detector.preprocessing.end());
    const ProgramResult result = millrace(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return file(name);
  }

  // The detections of the program on the picture.
  std::vector<Detection> run(const Detector& detector, const std::string& program,
                             const std::string& picture) const {
    const std::string folder = file("outputs");
    std::filesystem::create_directories(folder);
    std::vector<std::string> arguments = {"run", program, "-i", picture, "--output-dir", folder};
    arguments.insert(arguments.end(), detector.preprocessing.begin(), detector.preprocessing.end());
    const ProgramResult result = millrace(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    Outputs outputs;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const auto bytes = io::read_file(entry.path().string());
      EXPECT_TRUE(bytes.ok());
      std::vector<float>& elements = outputs[entry.path().stem().string()];
      elements.resize(bytes->size() / sizeof(float));
      std::memcpy(elements.data(), bytes->data(), elements.size() * sizeof(float));
    }
    return detector.decode(outputs);
  }

  void expect_same_objects(const Detector& detector) const {
    const auto onnx = test_model("models/" + std::string(detector.model) + ".onnx");
    const auto images = test_model("images");
    if (!onnx || !images) GTEST_SKIP() << "no test models beside the project";
    const std::string fp32 = compile("fp32.rai", *onnx, detector, {});
    const std::string int8 =
        compile("int8.rai", *onnx, detector, {"--precision", "int8", "--calibrate", *images});
    for (const std::string& picture : detector.pictures) {
      SCOPED_TRACE(picture);
      const auto exact = run(detector, fp32, *images + "/" + picture);
      const auto quantised = run(detector, int8, *images + "/" + picture);
      EXPECT_FALSE(exact.empty());
      ASSERT_EQ(quantised.size(), exact.size());
      for (size_t i = 0; i < exact.size(); ++i) {
        EXPECT_EQ(quantised[i].object_class, exact[i].object_class);
        EXPECT_NEAR(quantised[i].score, exact[i].score, 0.05);
        for (size_t side = 0; side < 4; ++side)
          EXPECT_NEAR(quantised[i].corners[side], exact[i].corners[side], 2) << "side " << side;
      }
    }
  }
};

TEST_F(Int8Detectors, UltrafaceFindsTheSameFace) {
  expect_same_objects({"ultraface_rfb320",
                       {"astronaut.png"},
                       {"--mean", "127", "--scale", "0.0078125"},
                       ultraface_faces});
}

TEST_F(Int8Detectors, YunetFindsTheSameFace) {
  expect_same_objects({"yunet_n_320_320", {"astronaut.png"}, {"--order", "bgr"}, yunet_faces});
}

TEST_F(Int8Detectors, FastestdetFindsTheSameAnimals) {
  expect_same_objects({"fastestdet",
                       {"golden_retriever.jpg", "chelsea.png"},
                       {"--order", "bgr", "--scale", "0.0039215686"},
                       fastestdet_objects});
}

}  // namespace
}  // namespace millrace::test
