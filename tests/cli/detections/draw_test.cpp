// `millrace run --draw` on real detectors. Skipped where the models are not beside the project.
#include <gmock/gmock.h>

#include <onnx/onnx_pb.h>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "io/file.h"
#include "io/npy.h"
#include "io/pictures/canvas.h"
#include "io/pictures/picture.h"
#include "tests/cli/cli_fixture.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DrawTest : public CliTest {
 protected:
  std::string content(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  ProgramResult draw(const std::string& model, const std::string& picture, const std::string& drawn,
                     std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"run", *test_model("models/" + model), "-i",
                                 *test_model("images/" + picture), "--draw", drawn});
    return millrace(flags);
  }
};

TEST_F(DrawTest, UltrafaceBoxesAreInPixelsOfThePhoto) {
  if (!test_model("models/ultraface_rfb320.onnx")) GTEST_SKIP() << "no test models";
  const ProgramResult result =
      draw("ultraface_rfb320.onnx", "astronaut.png", file("face.jpg"),
           {"--mean", "127", "--scale", "0.0078125", "--least-score", "0.7", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json found = json::parse(result.out)["frames"][0]["detections"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["class"], 1);
  // The photo has 512 x 512 pixels.
  EXPECT_NEAR(found[0]["left"], 0.3508 * 512, 1);
  EXPECT_NEAR(found[0]["top"], 0.1201 * 512, 1);
  EXPECT_NEAR(found[0]["right"], 0.5233 * 512, 1);
  EXPECT_NEAR(found[0]["bottom"], 0.3395 * 512, 1);
  EXPECT_THAT(content("face.jpg"), StartsWith("\xFF\xD8\xFF"));
}

TEST_F(DrawTest, YunetBoxesHaveTheLabelThatIsGiven) {
  if (!test_model("models/yunet_n_320_320.onnx")) GTEST_SKIP() << "no test models";
  const std::string labels = "face\n";
  ASSERT_TRUE(io::write_file(file("labels.txt"), std::as_bytes(std::span(labels))).ok());
  const ProgramResult result =
      draw("yunet_n_320_320.onnx", "astronaut.png", file("face.png"),
           {"--order", "bgr", "--labels", file("labels.txt"), "--normalize", "none", "--sandbox"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 detection\n  1. 0 0.93"));
  EXPECT_THAT(result.out, HasSubstr("  face  x 180 to "));
  EXPECT_THAT(result.out, HasSubstr("\n     key points ("));
  EXPECT_EQ(std::ranges::count(result.out, '('), 5 + 1) << "five points, and the size of the file";
  EXPECT_THAT(result.out, HasSubstr("wrote " + file("face.png")));
  EXPECT_THAT(content("face.png"), StartsWith("\x89PNG"));
}

// Resizing places the cat differently in the input of the network, but not in the photo, which has
// 451 x 300 pixels.
TEST_F(DrawTest, FastestdetFindsTheCatWhateverTheResizing) {
  if (!test_model("models/fastestdet.onnx")) GTEST_SKIP() << "no test models";
  for (const char* resize : {"stretch", "letterbox"}) {
    SCOPED_TRACE(resize);
    const ProgramResult result =
        draw("fastestdet.onnx", "chelsea.png", file("cat.jpg"),
             {"--order", "bgr", "--scale", "0.0039215686", "--resize", resize, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json found = json::parse(result.out)["frames"][0]["detections"];
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]["class"], 15);
    EXPECT_NEAR(found[0]["left"], 0, 10);
    EXPECT_NEAR(found[0]["right"], 420, 10);
    EXPECT_NEAR(found[0]["bottom"], 288, 10);
  }
}

class PhotoTest : public DrawTest {
 protected:
  std::string photo() const {
    const std::string grey = "P5\n2 2\n255\n" + std::string(4, '\x60');
    EXPECT_TRUE(io::write_file(file("photo.pgm"), std::as_bytes(std::span(grey))).ok());
    return file("photo.pgm");
  }
  ProgramResult run(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"run", kGlyphsOnnx, "--normalize", "unit"});
    return millrace(flags);
  }
};

TEST_F(PhotoTest, AClassifierHasNoBoxes) {
  expect_failure(run({"-i", photo(), "--draw", file("a.jpg")}), "'scores' [1,40]");
  EXPECT_EQ(content("a.jpg"), "");
}

TEST_F(PhotoTest, OnePictureAndAFormatAreNeeded) {
  expect_wrong_command_line(run({"-i", photo(), "--draw", file("a.gif")}), ".jpg or .png");
  expect_wrong_command_line(run({"-i", photo(), "--least-score", "0.3"}), "--draw");
  expect_failure(run({"-i", photo(), "-i", photo(), "--draw", file("a.jpg")}), "one picture");
  const std::string zeros(32 * 32 * sizeof(float), '\0');
  ASSERT_TRUE(io::write_file(file("zeros.bin"), std::as_bytes(std::span(zeros))).ok());
  expect_failure(run({"-i", file("zeros.bin"), "--draw", file("a.jpg")}), "needs a picture");
}

// Returns red, green and blue of a pixel of a picture with 40 x 30 pixels.
std::array<float, 3> pixel(const io::Canvas& canvas, size_t x, size_t y) {
  const TemporaryDirectory directory;
  const auto png = canvas.encode("png");
  EXPECT_TRUE(png.ok() && io::write_file(directory.file("drawn.png"), *png).ok());
  io::PictureOptions options;
  options.channels = 3;
  options.width = 40;
  options.height = 30;
  const auto planes = io::load_picture(directory.file("drawn.png"), options);
  EXPECT_TRUE(planes.ok()) << planes.status().message();
  if (!planes.ok()) return {};
  const auto at = [&](size_t plane) { return (*planes)[(plane * 30 + y) * 40 + x]; };
  return {at(0), at(1), at(2)};
}

// A network that says how red, green and blue each pixel is, from 0 to 1.
std::string colour_network() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto* const graph = model.mutable_graph();
  graph->set_name("colours");
  auto* const node = graph->add_node();
  node->set_op_type("Softmax");
  node->add_input("image");
  node->add_output("classes");
  auto* const axis = node->add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(1);
  for (auto* const value : {graph->add_input(), graph->add_output()}) {
    auto* const type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t side : {1, 3, 30, 40}) type->mutable_shape()->add_dim()->set_dim_value(side);
  }
  graph->mutable_input(0)->set_name("image");
  graph->mutable_output(0)->set_name("classes");
  return model.SerializeAsString();
}

// The left quarter of the photo is red, the rest blue.
TEST_F(PhotoTest, SegmentsColourThePhoto) {
  const std::string network = colour_network();
  ASSERT_TRUE(io::write_file(file("colours.onnx"), std::as_bytes(std::span(network))).ok());
  std::string pixels = "P6\n40 30\n255\n";
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) pixels += x < 10 ? "\xF0\x01\x01" : "\x01\x01\xF0";
  ASSERT_TRUE(io::write_file(file("photo.ppm"), std::as_bytes(std::span(pixels))).ok());
  const std::string labels = "red\ngreen\nblue\n";
  ASSERT_TRUE(io::write_file(file("labels.txt"), std::as_bytes(std::span(labels))).ok());
  const std::vector<std::string> command = {"run",         file("colours.onnx"),
                                            "-i",          file("photo.ppm"),
                                            "--draw",      file("a.png"),
                                            "--labels",    file("labels.txt"),
                                            "--normalize", "unit"};
  const ProgramResult text = millrace(command);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("2 classes\n  2  blue  75.0 % of the photo\n"
                                  "  0  red  25.0 % of the photo\n"));
  auto as_json = command;
  as_json.push_back("--json");
  const json found = json::parse(millrace(as_json).out)["frames"][0];
  ASSERT_EQ(found["segments"].size(), 2u);
  EXPECT_EQ(found["segments"][1]["share"], 0.25);
  EXPECT_FALSE(found.contains("detections"));
  const auto drawn = io::Canvas::open(file("a.png"));
  ASSERT_TRUE(drawn.ok()) << drawn.status().message();
  EXPECT_EQ(pixel(*drawn, 5, 15), (std::array<float, 3>{240, 1, 1})) << "class 0 stays";
  EXPECT_NE(pixel(*drawn, 30, 15), (std::array<float, 3>{1, 1, 240})) << "class 2 is coloured";
}

// Such a stack is preprocessed as pictures are, but is no file to draw on.
TEST_F(PhotoTest, AnArrayOfPixelsIsNoPictureToDrawOn) {
  const io::Array pixels{tensor::DataType::kUint8, {1, 32, 32}, std::vector<std::byte>(32 * 32)};
  const auto bytes = io::npy_bytes(pixels);
  ASSERT_TRUE(bytes.ok() && io::write_file(file("stack.npy"), *bytes).ok());
  ASSERT_EQ(run({"-i", file("stack.npy")}).exit_code, 0);
  expect_failure(run({"-i", file("stack.npy"), "--draw", file("a.jpg")}), "needs a picture file");
}

TEST_F(PhotoTest, APhotoThatIsTooWideForAJpegIsRefusedBeforeTheModelRuns) {
  const std::string wide = "P5\n65501 1\n255\n" + std::string(65501, '\x60');
  ASSERT_TRUE(io::write_file(file("wide.pgm"), std::as_bytes(std::span(wide))).ok());
  expect_failure(run({"-i", file("wide.pgm"), "--draw", file("a.jpg")}),
                 "a side of a JPEG at most 65500");
  expect_failure(run({"-i", file("wide.pgm"), "--draw", file("a.png")}), "'scores' [1,40]");
}

TEST_F(PhotoTest, TwoFilesDoNotGetOnePath) {
  const std::string picture = photo();
  expect_wrong_command_line(run({"-i", picture, "--draw", file("a.png"), "--save-input",
                                 directory_.path().string() + "/./a.png"}),
                            "two files would be written to");
  expect_wrong_command_line(
      run({"-i", picture, "--save-input", file("a.bin"), "--save-input", "image=" + file("a.bin")}),
      "two files would be written to");
  std::filesystem::create_directory(file("out"));
  expect_failure(
      run({"-i", picture, "--output-dir", file("out"), "--save-input", file("out/scores.bin")}),
      "two files would be written to");
}

TEST_F(PhotoTest, ThePathOfAnInputToSaveHasNoEqualsSign) {
  expect_failure(run({"-i", photo(), "--save-input", "image=a=b.bin"}),
                 "--save-input image=a=b.bin: the path must not contain '='");
  EXPECT_EQ(content("b.bin"), "");
}

TEST_F(PhotoTest, TheInputIsSavedAsTheModelReadsIt) {
  const std::string picture = photo();
  ASSERT_EQ(run({"-i", picture, "--save-input", file("in.npy")}).exit_code, 0);
  const auto array = io::read_npy(file("in.npy"));
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, (std::vector<uint32_t>{1, 1, 32, 32}));
  const ProgramResult given = run({"-i", picture, "--top", "3"});
  EXPECT_EQ(run({"-i", file("in.npy"), "--top", "3"}).out,
            run({"-i", picture, "--top", "3", "--time-limit", "60s"}).out);
  EXPECT_EQ(run({"-i", file("in.npy"), "--top", "3"}).out, given.out);
  expect_wrong_command_line(run({"-i", picture, "--view", "hw", "--save-input", file("in.npy")}),
                            "--view cpu");
}

// The bytes of the hardware view are what a program for the board reads from a file.
TEST_F(PhotoTest, TheInputIsSavedInTheHardwareView) {
  const std::string model = compiled("bf16.rai", {"--precision", "bf16"});
  const std::vector<std::string> common = {"run", model, "--view", "hw", "--normalize", "unit"};
  const auto run_on = [&](const std::string& input, std::vector<std::string> flags) {
    flags.insert(flags.begin(), common.begin(), common.end());
    flags.insert(flags.end(), {"-i", input});
    return millrace(flags);
  };
  const ProgramResult first =
      run_on(photo(), {"--top", "3", "--sandbox", "--save-input", "image=" + file("in.raw")});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(content("in.raw").size(), 32u * 32 * 4 * 2) << "[32,1,32,1,4] BF16";
  const ProgramResult again = run_on(file("in.raw"), {"--top", "3"});
  EXPECT_EQ(first.out, "wrote " + file("in.raw") + " (8192 bytes)\n" + again.out);
}

TEST_F(PhotoTest, AnInputToSaveIsOneOfTheModel) {
  expect_failure(run({"-i", photo(), "--save-input", "pixels=" + file("a.bin")}),
                 "--save-input pixels=");
}

TEST(Canvas, DrawsWithinThePictureOnly) {
  const TemporaryDirectory directory;
  const std::string white = "P6\n40 30\n255\n" + std::string(40 * 30 * 3, '\xFF');
  const std::string path = directory.file("white.ppm");
  ASSERT_TRUE(io::write_file(path, std::as_bytes(std::span(white))).ok());
  auto canvas = io::Canvas::open(path);
  ASSERT_TRUE(canvas.ok()) << canvas.status().message();
  EXPECT_EQ(canvas->width(), 40u);
  const auto before = canvas->encode("png");
  canvas->draw({.left = 50, .top = 50, .right = 60, .bottom = 60, .caption = {}});
  const auto beside = canvas->encode("png");
  ASSERT_TRUE(before.ok() && beside.ok());
  EXPECT_EQ(*before, *beside);
  canvas->draw({.left = -1e9, .top = -5, .right = 1e9, .bottom = 1e9, .caption = "caf\xC3\xA9"});
  canvas->draw({.left = 10, .top = 20, .right = 30, .bottom = 28, .caption = {}});
  EXPECT_EQ(pixel(*canvas, 10, 24), (std::array<float, 3>{255, 64, 64})) << "the left side";
  EXPECT_EQ(pixel(*canvas, 20, 24), (std::array<float, 3>{255, 255, 255})) << "within the box";
  EXPECT_FALSE(canvas->encode("gif").ok());
  EXPECT_EQ(io::writable_format("A.JPeG"), "jpeg");
  EXPECT_EQ(io::writable_format("a.webp"), "");
}

}  // namespace
}  // namespace millrace::test
