// samples/x_plus_ml with a network of one Relu, whose best score is the brightness of the picture:
// which frames come out, in which order, and what fails alone.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/samples/x_plus_ml_fixture.h"
#include "tests/support/relu_model.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointwise;

constexpr int kSide = 32;

class XPlusMl : public XPlusMlTest {
 protected:
  std::string archive(const std::string& name,
                      const std::vector<std::pair<std::string, graph::Dims>>& inputs) const {
    return archive(name, relu_model(inputs));
  }
  std::string archive(const std::string& name, const graph::CompiledModel& model) const {
    const std::string path = directory_.file(name);
    EXPECT_TRUE(model::write_archive(graph::encode(model), path, model::ArchiveForm::kFile).ok());
    return path;
  }

  // A picture in UINT8, in which 100 stands for black and 228 for white; in the output 0 is
  // `output_zero` and 1 is 128 more.
  std::string uint8_archive(int output_zero) const {
    using compiler::test::TensorProto;
    constexpr auto kUint8 = TensorProto::UINT8;
    compiler::test::Model onnx;
    onnx.input("image", {1, 3, 4, 4}, kUint8).output("out", kUint8);
    onnx.floats("scale", {}, {1 / 128.0F});
    onnx.constant(compiler::test::int_tensor("in_zero", {}, {100}, kUint8));
    onnx.constant(compiler::test::int_tensor("out_zero", {}, {output_zero}, kUint8));
    onnx.node("DequantizeLinear", {"image", "scale", "in_zero"}, {"x"});
    onnx.node("QuantizeLinear", {"x", "scale", "out_zero"}, {"out"});
    auto model = compiler::compile(write("uint8.onnx", onnx.bytes()), {});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    if (!model.ok()) return {};
    model->inputs.at(0).quant = {.scale = 1 / 128.0, .zero_point = 100};
    model->outputs.at(0).quant = {.scale = 1 / 128.0, .zero_point = output_zero};
    return archive("uint8.rai", *model);
  }

  // This is the same model in FLOAT32; its two tensors are quantised to UINT8 inside, with `zero`.
  std::string qdq_archive(int zero) const {
    using compiler::test::TensorProto;
    compiler::test::Model onnx;
    onnx.input("image", {1, 3, 4, 4}).output("out").floats("scale", {}, {0.0123F});
    onnx.constant(compiler::test::int_tensor("zero", {}, {zero}, TensorProto::UINT8));
    onnx.node("QuantizeLinear", {"image", "scale", "zero"}, {"q"});
    onnx.node("DequantizeLinear", {"q", "scale", "zero"}, {"x"});
    onnx.node("Relu", {"x"}, {"y"});
    onnx.node("QuantizeLinear", {"y", "scale", "zero"}, {"r"});
    onnx.node("DequantizeLinear", {"r", "scale", "zero"}, {"out"});
    const auto model = compiler::compile(write("qdq.onnx", onnx.bytes()), {});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    return model.ok() ? archive("qdq.rai", *model) : "";
  }

  // Brightness from 0 to 1.
  Json brightness_model() const {
    const double scale = 1 / 255.0;
    return {{"inference-config",
             {{"model-file", archive("relu.rai", {{"image", {1, 3, 4, 4}}})},
              {"runner-options", {{"input-tensor-type", "CPU"}, {"output-tensor-type", "CPU"}}}}},
            {"preprocess-config",
             {{"mean-r", 0},
              {"mean-g", 0},
              {"mean-b", 0},
              {"scale-r", scale},
              {"scale-g", scale},
              {"scale-b", scale}}},
            {"postprocess-config", {{"type", "TOPK"}}}};
  }
  Json brightness_app() const { return app({brightness_model()}); }

  Json uint8_model(int output_zero) const {
    Json model = brightness_model();
    model["inference-config"]["model-file"] = uint8_archive(output_zero);
    return model;
  }

  // A grey picture.
  std::string picture(const std::string& name, int level) const {
    const std::string size = std::to_string(kSide);
    return write(name, "P6\n" + size + " " + size + "\n255\n" +
                           std::string(3 * kSide * kSide, static_cast<char>(level)));
  }
  // A grey frame in NV12 or I420, in which brightness is 16 to 235.
  static std::string grey_yuv(int luma) {
    return std::string(kSide * kSide, static_cast<char>(luma)) +
           std::string(kSide * kSide / 2, '\x80');
  }

  // The scores of all frames, in the order in which they were written.
  std::vector<double> scores(const std::string& file = "postproc0_results.txt") const {
    std::vector<double> scores;
    const std::string text = output(file);
    const std::string key = " score=";
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
      scores.push_back(std::stod(text.substr(at + key.size())));
    return scores;
  }

  void expect_refused(const ProgramResult& result, const std::string& reason) const {
    SCOPED_TRACE(reason);
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr("Error: "));
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_THAT(files(), IsEmpty());
  }
};

TEST_F(XPlusMl, ABrokenPictureOfAFolderFailsAlone) {
  picture("photos/a.ppm", 51);
  write("photos/b.jpg", "no picture");
  picture("photos/c.PPM", 102);
  write("photos/notes.txt", "no picture either, and not taken for one");
  const ProgramResult result = run(brightness_app(), directory_.file("photos"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, ContainsRegex("\\[ERROR\\] frame 1, b\\.jpg: .*b\\.jpg is no picture"));
  EXPECT_THAT(result.out, HasSubstr("frames: 3, failed: 1\n"));
  EXPECT_THAT(scores(), Pointwise(DoubleNear(1e-3), {0.2, 0.4}));
  EXPECT_THAT(output("postproc0_results.txt"),
              ContainsRegex("^frame 0, a\\.ppm\n.*\nframe 2, c\\.PPM\n"));
}

TEST_F(XPlusMl, AFolderNamedLikeAPictureIsNone) {
  picture("photos/a.ppm", 51);
  std::filesystem::create_directory(directory_.file("photos/album.jpg"));
  const ProgramResult result = run(brightness_app(), directory_.file("photos"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("frames: 1, failed: 0\n"));
}

TEST_F(XPlusMl, FramesOfAnNv12FileStayInOrderAndTheOneThatEndsEarlyFails) {
  const std::string file =
      write("clip.nv12", grey_yuv(16) + grey_yuv(235) + grey_yuv(16 + 219 / 2) + "too short");
  const ProgramResult result = run(brightness_app(), file, {"--dim", "32x32"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("[ERROR] frame 3, clip.nv12: the file ends in the middle of the frame\n"));
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {0.0, 1.0, 0.498}));
}

TEST_F(XPlusMl, RawPicturesInBgrAreTaken) {
  const std::string file = write("one.bgr", std::string(3 * kSide * kSide, '\x33'));
  const ProgramResult result = run(brightness_app(), file, {"--dim", "32x32"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(1e-3), {0.2}));
}

// More frames than are on the way at once.
TEST_F(XPlusMl, AVideoKeepsItsOrder) {
  std::string video = "YUV4MPEG2 W32 H32 F25:1 Ip A1:1 C420jpeg\n";
  std::vector<double> brightness;
  for (int frame = 0; frame < 150; ++frame) {
    const int luma = 16 + (frame * 67) % 220;
    video += "FRAME\n" + grey_yuv(luma);
    brightness.push_back((luma - 16) / 219.0);
  }
  const ProgramResult result = run(brightness_app(), write("clip.y4m", video));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), brightness));
}

TEST_F(XPlusMl, AVideoThatEndsEarlyLosesItsLastFrameOnly) {
  const std::string file =
      write("clip.y4m", "YUV4MPEG2 W32 H32\nFRAME\n" + grey_yuv(235) + "FRAME\nno planes");
  const ProgramResult result = run(brightness_app(), file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("frame 1, clip.y4m: the Y4M video ends in the middle"));
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {1.0}));
}

// Its header asks for 6 GB.
TEST_F(XPlusMl, AVideoWithoutRoomForItsFrameTakesNoMemoryForIt) {
  const ProgramResult result =
      run(brightness_app(), write("huge.y4m", "YUV4MPEG2 W65534 H65534\nFRAME\n"));
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("frame 0, huge.y4m: the Y4M video ends in the middle"));
  struct rusage children {};
  ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &children), 0);
  EXPECT_LT(children.ru_maxrss, 1'500'000);  // KiB, of the largest program that this process ran
}

TEST_F(XPlusMl, ColoursOfAVideoAreThoseOfItsPlanes) {
  // Pure red in BT.601: V is high, U is below the middle.
  const size_t quarter = kSide * kSide / 4;
  const std::string red = std::string(kSide * kSide, '\x51') + std::string(quarter, '\x5A') +
                          std::string(quarter, '\xF0');
  const ProgramResult result =
      run(brightness_app(), write("red.y4m", "YUV4MPEG2 W32 H32\nFRAME\n" + red));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // The best of 48 values lies in the first plane, which is that of red.
  EXPECT_THAT(output("postproc0_results.txt"), ContainsRegex("index=(.|1[0-5]) score=(0.99|1)"));
}

TEST_F(XPlusMl, RunsAndFramesSayHowOftenTheInputIsRead) {
  const std::string file = write("clip.nv12", grey_yuv(16) + grey_yuv(235) + grey_yuv(16));
  const ProgramResult result =
      run(brightness_app(), file, {"--dim", "32x32", "--runs", "3", "--frames", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {0.0, 1.0, 0.0, 1.0, 0.0, 1.0}));
}

// A pipe can be removed while it is read.
TEST_F(XPlusMl, AnInputThatIsGoneAtALaterRunIsTheEnd) {
  const std::string pipe = directory_.file("clip.nv12");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int fd = -1;
    while ((fd = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK)) < 0 &&
           std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::string frame = grey_yuv(235);
    EXPECT_EQ(::write(fd, frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
    ::unlink(pipe.c_str());
    ::close(fd);
  });
  const ProgramResult result = run(brightness_app(), pipe, {"--dim", "32x32", "--runs", "1000"});
  writer.join();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "[ERROR] frame 1, " + pipe + ": cannot be read again: there is no " + pipe + "\n");
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {1.0}));
}

TEST_F(XPlusMl, SeveralModelsGetTheSameFrames) {
  Json darker = brightness_model();
  for (const char* scale : {"scale-r", "scale-g", "scale-b"})
    darker["preprocess-config"][scale] = 0.5 / 255;
  const Json path = {{"config-path", write("darker.json", darker.dump())}};
  const ProgramResult result =
      run(app({brightness_model(), path}), write("clip.nv12", grey_yuv(235) + grey_yuv(16)),
          {"--dim", "32x32"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {1.0, 0.0}));
  EXPECT_THAT(scores("postproc1_results.txt"), Pointwise(DoubleNear(5e-3), {0.5, 0.0}));
}

TEST_F(XPlusMl, DrawsResultsOverPicturesThatCanBeReadAgain) {
  Json model = brightness_model();
  model["postprocess-config"]["label-file-path"] =
      write("labels.txt", "a label that covers much of the picture\n");
  model["metaconvert-config"] = {{"font-size", "0.4"}};
  picture("photos/black.ppm", 0);
  ASSERT_EQ(run(app({model}), directory_.file("photos")).exit_code, 0);
  EXPECT_THAT(files(), ElementsAre("overlay_00000_black.jpg", "postproc0_results.txt"));
  EXPECT_THAT(scores(), ElementsAre(0));
  const ProgramResult again = run(brightness_app(), "output/overlay_00000_black.jpg");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(scores(), ElementsAre(testing::Gt(0.05)));
}

TEST_F(XPlusMl, AJpegEndsAtItsEndMarker) {
  Json model = brightness_model();
  model["metaconvert-config"] = {{"font-size", "0.1"}};
  ASSERT_EQ(run(app({model}), write("clip.nv12", grey_yuv(126)), {"--dim", "32x32"}).exit_code, 0);
  const std::string whole = output("overlay_00000_clip.jpg");
  // The data that a camera appends has markers, too; a thumbnail in front has an end marker.
  const std::string trailer("\xFF\xDA film", 7);
  const std::string thumbnail("\xFF\xE1\x00\x06\xFF\xD8\xFF\xD9", 8);
  write("photos/0_trailer.jpg", whole + trailer);
  write("photos/1_thumbnail.jpg", whole.substr(0, 2) + thumbnail + whole.substr(2));
  write("photos/2_cut_off.jpg", whole.substr(0, whole.size() - 8));
  write("photos/3_cut_off_behind_thumbnail.jpg",
        whole.substr(0, 2) + thumbnail + whole.substr(2, whole.size() - 4));
  const ProgramResult result = run(brightness_app(), directory_.file("photos"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("frames: 4, failed: 2\n"));
  EXPECT_THAT(result.err, ContainsRegex("frame 2, 2_cut_off\\.jpg: .* ends in the middle"));
  EXPECT_THAT(result.err, ContainsRegex("frame 3, 3_cut_off[^:]*: .* ends in the middle"));
}

TEST_F(XPlusMl, OverlaysOfNv12ArePicturesToo) {
  Json model = brightness_model();
  model["metaconvert-config"] = {{"font-size", "0.1"}};
  const std::string file = write("clip.nv12", grey_yuv(126));
  ASSERT_EQ(run(app({model}), file, {"--dim", "32x32"}).exit_code, 0);
  const ProgramResult again = run(brightness_app(), "output/overlay_00000_clip.jpg");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("frame 0, overlay_00000_clip.jpg\n"));
}

TEST_F(XPlusMl, AJobThatFailsTakesItsFrameAlone) {
  setenv("MILLRACE_FAULTS", "fail=2", 1);
  const std::string file = write("clip.nv12", grey_yuv(16) + grey_yuv(235) + grey_yuv(235));
  const ProgramResult result = run(brightness_app(), file, {"--dim", "32x32"});
  unsetenv("MILLRACE_FAULTS");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, ContainsRegex("\\[ERROR\\] frame 1, clip\\.nv12: inference failed: "));
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {0.0, 1.0}));
}

TEST_F(XPlusMl, PrintsWhatEachStageTakes) {
  const ProgramResult result = run(brightness_app(), picture("grey.ppm", 51));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* stage : {"read", "preprocess", "inference", "postprocess", "output"})
    EXPECT_THAT(result.out, ContainsRegex(std::string("\n  ") + stage +
                                          " +[0-9]+\\.[0-9]{3} +[0-9]+\\.[0-9]\n"));
  EXPECT_THAT(result.out, ContainsRegex("\nthroughput: [0-9.]+ FPS over 1 frames, "));
}

TEST_F(XPlusMl, ARunInWhichEveryFrameFailsHasNoThroughput) {
  const ProgramResult result = run(brightness_app(), write("no.jpg", "no picture"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, ContainsRegex("\n  inference +0\\.000 +-\n"));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("inf ")));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("throughput")));
}

// Later than the frames that warm the pipeline up.
TEST_F(XPlusMl, ABenchmarkRefusesAFrameThatBreaksLate) {
  std::string frames;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 50; ++i) frames += grey_yuv(235);
  expect_refused(run(brightness_app(), write("clip.nv12", frames + "too short"),
                     {"--dim", "32x32", "--benchmark"}),
                 "--benchmark takes an input without broken frames");
}

TEST_F(XPlusMl, ABenchmarkMeasuresEveryStageAloneAndWritesNothing) {
  const ProgramResult result =
      run(brightness_app(), picture("grey.ppm", 51), {"--benchmark", "--runs", "40"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Alone (ms/frame)"));
  EXPECT_THAT(result.out,
              ContainsRegex("FPS over 40 frames, [0-9.]+ of [a-z]+ alone, the slowest"));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("classification")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(XPlusMl, TensorsInUint8AreWrittenAndReadAsSuch) {
  picture("photos/a.ppm", 0);
  picture("photos/b.ppm", 51);
  picture("photos/c.ppm", 255);
  const ProgramResult result = run(app({uint8_model(0)}), directory_.file("photos"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(5e-3), {0.0, 0.2, 1.0}));
}

// The types of postprocessing cannot take a zero point, so the HW view has none.
TEST_F(XPlusMl, HwViewsOfAQuantisedModelHaveNoZeroPoint) {
  picture("photos/a.ppm", 0);
  picture("photos/b.ppm", 51);
  picture("photos/c.ppm", 255);
  Json model = brightness_model();
  model["inference-config"] = {{"model-file", qdq_archive(114)}};
  const ProgramResult result = run(app({model}), directory_.file("photos"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(0.02), {0.0, 0.2, 1.0}));
}

TEST_F(XPlusMl, AnOutputWithAZeroPointTakesATypeThatDoesNotDependOnIt) {
  const std::string photo = picture("grey.ppm", 51);
  Json model = uint8_model(100);
  expect_refused(run(app({model}), photo), "its zero point is 100");
  model["postprocess-config"]["type"] = "SOFTMAX";
  const ProgramResult result = run(app({model}), photo);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(scores(), Pointwise(DoubleNear(1e-4), {1 / 48.0}));
}

// The plugin is tests/vartx/brightest_plugin.cpp.
TEST_F(XPlusMl, TheFunctionOfAPluginTakesThePlaceOfTheType) {
  setenv("MILLRACE_PLUGIN_DIR", MILLRACE_TEST_PLUGIN_DIR, 1);
  Json model = brightness_model();
  model["postprocess-config"]["function"] = "brightest";
  const ProgramResult result = run(app({model}), picture("grey.ppm", 51));
  unsetenv("MILLRACE_PLUGIN_DIR");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(output("postproc0_results.txt"), HasSubstr("label=\"brightest\" index=0 "));
  EXPECT_THAT(scores(), Pointwise(DoubleNear(1e-3), {0.2}));
}

TEST_F(XPlusMl, InputsThatCannotBeReadAtAllAreRefused) {
  const Json config = brightness_app();
  const std::string raw = write("clip.nv12", grey_yuv(16));
  expect_refused(run(config, "no-such.jpg"), "there is no no-such.jpg");
  expect_refused(run(config, raw), "--dim");
  expect_refused(run(config, raw, {"--dim", "31x32"}), "even sizes, not 31x32");
  expect_refused(run(config, raw, {"--dim", "32"}), "--dim takes WIDTHxHEIGHT");
  expect_refused(run(config, raw, {"--dim", "0x32"}), "--dim takes WIDTHxHEIGHT");
  expect_refused(run(config, write("empty.nv12", ""), {"--dim", "32x32"}), "has no frames");
  expect_refused(run(config, write("empty.y4m", "")), "does not begin with YUV4MPEG2");
  expect_refused(run(config, write("deep.y4m", "YUV4MPEG2 W32 H32 C420p10\n")), "samples C420p10");
  expect_refused(run(config, write("clip.mp4", "any")), "ffmpeg -i ");
  write("nothing/notes.txt", "no picture");
  expect_refused(run(config, directory_.file("nothing")), "has no pictures");
  expect_refused(run(config, raw, {"--runs", "0"}), "--runs takes 1 to 10000, not 0");
}

TEST_F(XPlusMl, ConfigurationsThatMakeNoSenseAreRefused) {
  const std::string photo = picture("grey.ppm", 51);
  const auto expect_refused_with = [&](const std::string& section, const std::string& key,
                                       const Json& value, const std::string& reason) {
    Json model = brightness_model();
    model[section][key] = value;
    expect_refused(run(app({model}), photo), reason);
  };
  expect_refused_with("inference-config", "model-file", "no-such.rai", "no-such.rai");
  expect_refused_with("preprocess-config", "mean-r", "dark", "\"mean-r\" takes a number");
  expect_refused_with("preprocess-config", "colour-format", "PINK", "\"colour-format\" takes one");
  expect_refused_with("preprocess-config", "colour-format", "RGB_FLOAT", "colour format asked for");
  expect_refused_with("preprocess-config", "maintain-aspect-ratio", true, "\"resizing-type\"");
  expect_refused_with("postprocess-config", "type", "GUESS", "\"type\" takes one of");
  expect_refused_with("postprocess-config", "topk", "many", "topk");
  expect_refused_with("postprocess-config", "label-file-path", "no-such.txt", "no-such.txt");
  expect_refused_with("postprocess-config", "quant-scale-factors", {1, 2}, "each of the 1 outputs");
  expect_refused_with("metaconvert-config", "font", 99, "font");
  Json lost = brightness_model();
  lost["preprocess-config"].erase("scale-g");
  expect_refused(run(app({lost}), photo), "model 0: the configuration has no \"scale-g\"");
  lost.erase("preprocess-config");
  expect_refused(run(app({lost}), photo), "no object \"preprocess-config\"");
}

TEST_F(XPlusMl, ModelsThatTakeNoPictureAreRefused) {
  const std::string photo = picture("grey.ppm", 51);
  Json model = brightness_model();
  model["inference-config"]["model-file"] =
      archive("pair.rai", {{"one", {1, 3, 4, 4}}, {"two", {1, 3, 4, 4}}});
  expect_refused(run(app({model}), photo), "the model has 2 inputs");
  model["inference-config"]["model-file"] = archive("row.rai", {{"row", {1, 6}}});
  expect_refused(run(app({model}), photo), "no picture of three channels");
  model = brightness_model();
  model["inference-config"].erase("runner-options");
  expect_refused(run(app({model}), photo), "no picture format has these elements");
}

TEST_F(XPlusMl, ListsOfModelsThatMakeNoSenseAreRefused) {
  const std::string photo = picture("grey.ppm", 51);
  expect_refused(run(app({}), photo), "lists no model");
  expect_refused(run(Json{{"models-config", brightness_model()}}, photo), "takes a list");
  expect_refused(run(app({{{"config-path", "no-such.json"}}}), photo), "no-such.json");
  Json tensors = brightness_app();
  tensors["preprocess-en"] = "false";
  expect_refused(run(tensors, photo), "ml_vart");
  expect_refused(run({"--app-config", write("bad.json", "{"), "--input-file", photo}), "bad.json");
  expect_refused(run({"--app-config", "no-such.json", "--input-file", photo}), "no-such.json");
  expect_refused(run({"--input-file", photo}), "app-config");
}

}  // namespace
}  // namespace millrace::test
