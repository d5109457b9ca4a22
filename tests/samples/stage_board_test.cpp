// scripts/stage-board.sh and scripts/on-board.sh: the files of a board, and the commands of the
// samples on them, as they are typed on a board.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/samples/face_network.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

constexpr const char* kStage = MILLRACE_SOURCE_DIR "/scripts/stage-board.sh";
constexpr const char* kOnBoard = MILLRACE_SOURCE_DIR "/scripts/on-board.sh";
constexpr const char* kGlyphs = "glyphs=" MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx";

class StageBoard : public testing::Test {
 protected:
  ProgramResult stage(Words arguments) const {
    const Words first = {kStage, root_, "--millrace", MILLRACE_PROGRAM};
    arguments.insert(arguments.begin(), first.begin(), first.end());
    return run_program(arguments, directory_.path().string());
  }
  void stage_glyphs() const {
    const ProgramResult staged =
        stage({"--model", kGlyphs, "--precision", "fp32", "--", "--batch", "2"});
    ASSERT_EQ(staged.exit_code, 0) << staged.err;
  }
  // Runs a command in the folder of a sample.
  ProgramResult run(const std::string& sample, Words command) const {
    command.insert(command.begin(), {kOnBoard, root_});
    return run_program(command, samples_ + sample);
  }
  bool can_mount() const {
    return run_program({kOnBoard, root_, "true"}, directory_.path().string()).exit_code == 0;
  }
  std::string content(const std::string& path) const {
    std::ifstream file(root_ + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryDirectory directory_;
  const std::string root_ = directory_.file("board");
  const std::string samples_ = root_ + "/home/root/samples/";
};

constexpr const char* kNoMounts = "this machine lets nobody mount in a namespace";

TEST_F(StageBoard, TheSamplesRunAsOnABoard) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  if (!can_mount()) GTEST_SKIP() << kNoMounts;
  const std::string model = "/etc/vai/models/glyphs/glyphs.rai";
  const std::string ifm = "/etc/vai/models/glyphs/data/image.bin";
  ProgramResult result = run("vart_infer_async", {"./vart_infer_async", model, ifm});
  EXPECT_THAT(result.out, HasSubstr("Batches completed: 10 / 10")) << result.err;
  result = run("vart_callback", {"./vart_callback", model, ifm});
  EXPECT_THAT(result.out, HasSubstr("Rows completed: 2")) << result.err;
  result = run("ml_vart", {"./ml_vart", "--app-config", "glyphs.json"});
  EXPECT_THAT(result.out, HasSubstr("Run completed successfully.")) << result.err;
  for (const std::string sample : {"vart_multi_tenancy", "vart_multimodel_seq"}) {
    result = run(sample, {"./" + sample, "--config", "models.json"});
    EXPECT_THAT(result.out, HasSubstr("All models completed successfully.")) << result.err;
  }
}

TEST_F(StageBoard, AModelThatBeginsOrEndsOnACpuPartitionRuns) {
  // The first Conv takes the input, MatMul makes the output.
  for (const auto& [name, operators] :
       {std::pair("begin", "Conv"), {"end", "MatMul"}, {"both", "Conv,MatMul"}}) {
    const std::string model = std::string(name) + (kGlyphs + std::string("glyphs").size());
    const ProgramResult staged = stage(
        {"--model", model, "--precision", "fp32", "--", "--batch", "2", "--cpu-ops", operators});
    ASSERT_EQ(staged.exit_code, 0) << staged.err;
    const bool cpu_input = operators != std::string("MatMul");
    EXPECT_EQ(content("/etc/vai/models/" + std::string(name) + "/data/image.bin").size(),
              2 * (cpu_input ? 4096u : 16384u));
    EXPECT_FALSE(fs::exists(samples_ + "vart_multi_tenancy/models.json")) << "which needs HW views";
    if (!can_mount()) continue;
    const ProgramResult result =
        run("ml_vart", {"./ml_vart", "--app-config", std::string(name) + ".json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("Run completed successfully."));
  }
}

// A model whose name says INT8 and that is quantised already needs no option.
TEST_F(StageBoard, CommandsOfTheVendorRunAsTheyAre) {
  const auto onnx = test_model("models/mobilenetv2-12-qdq.onnx");
  const auto labels = test_model("labels/imagenet_synset.txt");
  const auto picture = test_model("images/goldfish.jpg");
  if (!onnx || !labels || !picture) GTEST_SKIP() << "no test models beside the project";
  const ProgramResult staged =
      stage({"--model", "resnet50_int8=" + *onnx, "--labels", *labels, "--data", *picture});
  ASSERT_EQ(staged.exit_code, 0) << staged.err;
  EXPECT_THAT(staged.out, HasSubstr(", int8, batch 1"));
  if (!can_mount()) GTEST_SKIP() << kNoMounts;
  const std::string data = "/etc/vai/models/resnet50_int8/data/";
  ProgramResult result =
      run("", {"ml_vart", "--app-config", "/etc/vai/ml_vart/json_configs/ml_vart_config.json"});
  EXPECT_THAT(result.out, HasSubstr("Run completed successfully.")) << result.err;
  result = run("", {"x_plus_ml_vart", "--app-config",
                    "/etc/vai/x_plus_ml_vart/json_configs/x_plus_ml_vart_1model.json",
                    "--input-file", data + "classification.jpg", "--log-level", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("goldfish, Carassius auratus"));
  const std::string tenancy = "/etc/vai/vart_multi_tenancy/json_configs/";
  for (const Words& words :
       {Words{"vart_multi_tenancy", "-c", tenancy + "temporal_config.json"},
        {"vart_multi_tenancy", "-c", tenancy + "spatial_config.json", "-r", "2", "-b"},
        {"vart_multi_tenancy", "-c", tenancy + "temporal_spatial_config.json"},
        {"vart_multimodel_seq", "-c", "/etc/vai/vart_multimodel_seq/json_configs/config.json"}}) {
    result = run("", words);
    EXPECT_EQ(result.exit_code, 0) << words[2] << result.err;
    EXPECT_THAT(result.out, HasSubstr("All models completed successfully."));
  }
  EXPECT_FALSE(fs::is_empty(samples_ + "ofm_model_1"));
  for (const Words& mode : {Words{}, Words{"-c"}}) {
    Words words = {"vart_zerocopy",
                   "-i",
                   data + "classification.jpg",
                   "-m",
                   "/etc/vai/models/resnet50_int8",
                   "-n",
                   "2"};
    words.insert(words.end(), mode.begin(), mode.end());
    result = run("", words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("goldfish, Carassius auratus"));
    const auto copies_nothing = HasSubstr("bytes copied per frame: 0\n");
    if (mode.empty())
      EXPECT_THAT(result.out, copies_nothing);
    else
      EXPECT_THAT(result.out, Not(copies_nothing));
  }
}

// The vendor's programs read these; the samples do not.
TEST_F(StageBoard, ConfigurationsWithoutPreprocessingNameTheRawInputs) {
  const auto onnx = test_model("models/mobilenetv2-12-qdq.onnx");
  if (!onnx) GTEST_SKIP() << "no test models beside the project";
  const ProgramResult staged = stage({"--model", "resnet50_int8=" + *onnx});
  ASSERT_EQ(staged.exit_code, 0) << staged.err;
  const std::string configs = "/etc/vai/x_plus_ml_vart/json_configs/";
  const auto read = [&](const std::string& path) { return nlohmann::json::parse(content(path)); };
  const nlohmann::json application = read(configs + "x_plus_ml_vart_inference_only.json");
  EXPECT_EQ(application["preprocess-en"], false);
  const nlohmann::json model = read(application["models-config"][0]["config-path"]);
  const nlohmann::json ifm = model["ifms-config"][0];
  EXPECT_EQ(ifm["file"], "/etc/vai/models/resnet50_int8/data/ifm_input_int8_1x224x224x4.bin");
  EXPECT_EQ(content(ifm["file"]).size(), 224u * 224 * 4);
}

// The programs on the board pass this file on to the runner.
TEST_F(StageBoard, EveryModelHasTheConfigurationOfTheVendorsCompiler) {
  const std::string config = directory_.file("config.json");
  std::ofstream(config) << R"({"vaiml_config": {"dp_size": 2, "tp_size": 3}})";
  const ProgramResult staged =
      stage({"--model", kGlyphs, "--precision", "fp32", "--", "--config", config});
  ASSERT_EQ(staged.exit_code, 0) << staged.err;
  const nlohmann::json passes =
      nlohmann::json::parse(content("/etc/vai/models/glyphs/vitisai_config.json"))["passes"];
  EXPECT_EQ(passes[1]["vaiml_config"]["dp_size"], 2);
  EXPECT_EQ(passes[1]["vaiml_config"]["tp_size"], 3);
  const ProgramResult again =
      run_program({MILLRACE_PROGRAM, "compile", kGlyphs + std::string("glyphs=").size(), "-o",
                   directory_.file("again.rai"), "--config",
                   root_ + "/etc/vai/models/glyphs/vitisai_config.json"},
                  "/");
  EXPECT_THAT(again.out, HasSubstr("batch 2, 24 columns")) << again.err;
}

TEST_F(StageBoard, PicturesMakeInt8AsOnTheBoard) {
  const auto onnx = test_model("models/mobilenetv2_fp32.onnx");
  const auto picture = test_model("images/goldfish.jpg");
  if (!onnx || !picture) GTEST_SKIP() << "no test models beside the project";
  const ProgramResult staged =
      stage({"--model", "resnet50_int8=" + *onnx, "--calibrate", *picture});
  ASSERT_EQ(staged.exit_code, 0) << staged.err;
  const ProgramResult model = run_program(
      {MILLRACE_PROGRAM, "inspect", root_ + "/etc/vai/models/resnet50_int8/resnet50_int8.rai"},
      "/");
  EXPECT_THAT(model.out, HasSubstr("INT8 HCWNC4 [224,1,224,1,4] 200704 bytes"));
  EXPECT_THAT(model.out, HasSubstr("scale 0.03125 zero point 0"));
  EXPECT_THAT(model.out, Not(HasSubstr("UINT8")));
}

TEST_F(StageBoard, ADetectorInInt8FindsAFaceByTheVendorsCommand) {
  const auto picture = test_model("images/astronaut.png");
  if (!picture) GTEST_SKIP() << "no test models beside the project";
  const std::string onnx = directory_.file("faces.onnx"), labels = directory_.file("faces.txt");
  const std::string jpeg = directory_.file("astronaut.jpg");  // the content says what it is
  std::ofstream(onnx, std::ios::binary) << yunet_with_one_list();
  std::ofstream(labels) << "face\n";
  fs::copy(*picture, jpeg);
  const ProgramResult staged =
      stage({"--model", "yolox_m_int8=" + onnx, "--labels", "yolox_m_int8=" + labels, "--calibrate",
             jpeg, "--data", jpeg});
  ASSERT_EQ(staged.exit_code, 0) << staged.err;
  const std::string config = "/etc/vai/x_plus_ml_vart/json_configs/";
  EXPECT_THAT(content(config + "yolox_m_int8_nms.json"), HasSubstr("\"colour-format\": \"RGBX\""));
  const std::string ifm = "/etc/vai/models/yolox_m_int8/data/ifm_input_int8_1x320x320x4.bin";
  EXPECT_THAT(content(config + "yolox_m_int8_inference_only.json"), HasSubstr(ifm));
  EXPECT_EQ(content(ifm).size(), 320u * 320 * 4);
  if (!can_mount()) GTEST_SKIP() << kNoMounts;
  const ProgramResult result =
      run("", {"x_plus_ml_vart", "--app-config", config + "x_plus_ml_vart_od.json", "--input-file",
               "/etc/vai/models/yolox_m_int8/data/detections.jpg", "--log-level", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("label=\"face\""));
}

TEST_F(StageBoard, Int8OfAModelThatIsNotQuantisedNeedsPictures) {
  const ProgramResult staged = stage({"--model", kGlyphs, "--precision", "int8"});
  EXPECT_EQ(staged.exit_code, 1);
  EXPECT_THAT(staged.err, HasSubstr("is not quantised: --calibrate names pictures for it"));
  EXPECT_FALSE(fs::exists(root_ + "/etc/vai/models/glyphs"));
}

TEST_F(StageBoard, XPlusMlClassifiesWithAllModelsOfPictures) {
  const auto onnx = test_model("models/mobilenetv2_fp32.onnx");
  const auto labels = test_model("labels/imagenet_synset.txt");
  const auto picture = test_model("images/goldfish.jpg");
  if (!onnx || !labels || !picture) GTEST_SKIP() << "no test models beside the project";
  for (const Words& options : {Words{"--precision", "bf16"}, Words{"--precision", "fp32"},
                               Words{"--cpu-ops", "Conv,MatMul"}}) {
    Words words = {"--model", "photos=" + *onnx, "--model", kGlyphs, "--labels",
                   *labels,   "--data",          *picture,  "--"};
    words.insert(words.end(), options.begin(), options.end());
    const ProgramResult staged = stage(words);
    ASSERT_EQ(staged.exit_code, 0) << staged.err;
    if (!can_mount()) GTEST_SKIP() << kNoMounts;
    const ProgramResult result = run("x_plus_ml", {"./x_plus_ml", "--app-config", "app.json",
                                                   "--input-file", "../data/goldfish.jpg"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("label=\"n01443537 goldfish, Carassius auratus\""));
    EXPECT_THAT(result.out, Not(HasSubstr("model 1"))) << "pictures of glyphs have one channel";
  }
}

TEST_F(StageBoard, TakesWhatIsCompiledAlready) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  const std::string archive = "/etc/vai/models/glyphs/glyphs.rai";
  const std::string onnx = MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx";
  const std::string folder = directory_.file("folder");
  const ProgramResult compiled =
      run_program({MILLRACE_PROGRAM, "compile", onnx, "-o", folder, "--format", "dir"}, "/");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const ProgramResult staged =
      stage({"--model", "copy=" + root_ + archive, "--model", "folder=" + folder});
  EXPECT_EQ(staged.exit_code, 0) << staged.err;
  EXPECT_EQ(content("/etc/vai/models/copy/copy.rai"), content(archive));
  EXPECT_TRUE(fs::is_directory(root_ + "/etc/vai/models/folder/vaiml_par_0"));
  EXPECT_THAT(content("/home/root/samples/ml_vart/folder.json"),
              HasSubstr("\"model-file\": \"/etc/vai/models/folder\""));
}

TEST_F(StageBoard, AgainReplacesWhatItMadeAndKeepsInputFiles) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  const std::string ifm = "/etc/vai/models/glyphs/data/image.bin";
  const std::string own(content(ifm).size(), '\7');
  std::ofstream(root_ + ifm, std::ios::binary) << own;
  const std::string before = content("/etc/vai/models/glyphs/glyphs.rai");
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  EXPECT_EQ(content("/etc/vai/models/glyphs/glyphs.rai"), before);
  EXPECT_EQ(content(ifm), own);
  // A file that is no whole number of rows cannot be meant for this model.
  std::ofstream(root_ + ifm, std::ios::binary | std::ios::app) << '\7';
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  EXPECT_EQ(content(ifm), std::string(own.size(), '\0'));
}

TEST_F(StageBoard, AModelThatIsInPlaceStays) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  const std::string archive = "/etc/vai/models/glyphs/glyphs.rai";
  const std::string before = content(archive);
  ProgramResult staged = stage({"--model", "glyphs=" + root_ + archive});
  EXPECT_EQ(staged.exit_code, 0) << staged.err;
  EXPECT_EQ(content(archive), before);

  const std::string folder = root_ + "/etc/vai/models/folder";
  const std::string onnx = MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx";
  ASSERT_EQ(run_program({MILLRACE_PROGRAM, "compile", onnx, "-o", folder, "--format", "dir"}, "/")
                .exit_code,
            0);
  staged = stage({"--model", "folder=" + folder});
  EXPECT_EQ(staged.exit_code, 0) << staged.err;
  EXPECT_TRUE(fs::is_directory(folder + "/vaiml_par_0"));
}

TEST_F(StageBoard, AModelOfAnotherNameInItsPlaceIsRefusedAndStays) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  const std::string folder = root_ + "/etc/vai/models/glyphs";
  fs::copy(folder + "/glyphs.rai", folder + "/other.rai");
  const ProgramResult staged = stage({"--model", "glyphs=" + folder + "/other.rai"});
  EXPECT_EQ(staged.exit_code, 1);
  EXPECT_THAT(staged.err, HasSubstr("lies where the staged glyphs belongs"));
  EXPECT_EQ(content("/etc/vai/models/glyphs/other.rai"),
            content("/etc/vai/models/glyphs/glyphs.rai"));
}

TEST_F(StageBoard, ABrokenModelReplacesNone) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  const std::string archive = "/etc/vai/models/glyphs/glyphs.rai";
  const std::string before = content(archive);
  for (const char* name : {"broken.onnx", "broken.rai"}) {
    const std::string broken = directory_.file(name);
    std::ofstream(broken) << "no model";
    EXPECT_NE(stage({"--model", "glyphs=" + broken}).exit_code, 0);
    EXPECT_NE(stage({"--model", kGlyphs, "--model", "broken=" + broken}).exit_code, 0);
  }
  EXPECT_EQ(content(archive), before);
  for (const fs::directory_entry& entry : fs::directory_iterator(root_ + "/etc/vai/models"))
    EXPECT_EQ(entry.path().filename(), "glyphs") << "is left over";
}

TEST_F(StageBoard, TakesWhatItStagedBefore) {
  const std::string labels = directory_.file("names.txt"), picture = directory_.file("a.jpg");
  std::ofstream(labels) << "zero\none\n";
  std::ofstream(picture) << "no picture, but nobody looks";
  const Words model = {"--model=" + std::string(kGlyphs), "--precision=fp32"};
  Words arguments = model;
  arguments.insert(arguments.end(), {"--labels", labels, "--data=" + picture});
  ASSERT_EQ(stage(arguments).exit_code, 0);
  const std::string data = root_ + "/etc/vai/models/glyphs/data/";
  for (const std::string& again :
       {samples_ + "data", samples_ + "data/a.jpg", data + "classification.jpg"}) {
    arguments = model;
    arguments.insert(arguments.end(),
                     {"--labels", data + "imagenet-classes-1000.txt", "--data", again});
    const ProgramResult staged = stage(arguments);
    EXPECT_EQ(staged.exit_code, 0) << staged.err;
  }
  EXPECT_EQ(content("/etc/vai/models/glyphs/data/coco_data_labels.txt"), "zero\none\n");
  EXPECT_EQ(content("/etc/vai/models/glyphs/data/detections.jpg"), "no picture, but nobody looks");
}

TEST_F(StageBoard, SaysWhatIsWrongBeforeItWritesAnything) {
  const struct {
    Words arguments;
    int exit_code;
    const char* reason;
  } cases[] = {
      {{}, 2, "--model is missing"},
      {{"--model"}, 2, "--model takes a value"},
      {{"--model", "glyphs.onnx"}, 2, "--model takes NAME=MODEL, not glyphs.onnx"},
      {{"--model", "a/b=glyphs.onnx"}, 2, "the name is that of a folder"},
      {{"--model", kGlyphs, "--model", kGlyphs}, 2, "--model glyphs is given twice"},
      {{"--model", kGlyphs, "--lables", "x"}, 2, "unknown option --lables"},
      {{"--model", kGlyphs, "--lables=x"}, 2, "unknown option --lables"},
      {{"--model", kGlyphs, "--precision="}, 2, "--precision takes int8, bf16, fp16 or fp32"},
      {{"--model", kGlyphs, "second"}, 2, "one ROOT"},
      {{"--model", "a=none.onnx"}, 1, "the model none.onnx does not exist"},
      {{"--model", "a=/dev/null"}, 1, "neither an .onnx or .rai file nor a directory"},
      {{"--model", kGlyphs, "--precision", "int4"},
       2,
       "--precision takes int8, bf16, fp16 or fp32"},
      {{"--model", kGlyphs, "--calibrate", "none"}, 1, "the data none does not exist"},
      {{"--model", kGlyphs, "--labels", "other=/dev/null"},
       1,
       "names no model that is staged: other"},
      {{"--model", kGlyphs, "--labels", "none.txt"}, 1, "the label file none.txt does not exist"},
      {{"--model", kGlyphs, "--data", "none.jpg"}, 1, "the data none.jpg does not exist"},
      {{"--model", kGlyphs, "--millrace", "none"}, 1, "there is no millrace program"},
  };
  for (const auto& [arguments, exit_code, reason] : cases) {
    const ProgramResult result = stage(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << reason;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_FALSE(fs::exists(root_)) << reason;
  }
}

TEST_F(StageBoard, ABrokenModelIsReported) {
  const std::string broken = directory_.file("broken.rai");
  std::ofstream(broken) << "no archive";
  const ProgramResult result = stage({"--model", "broken=" + broken});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("broken.rai"));
}

TEST_F(StageBoard, OnBoardPassesOnWhatTheCommandDoes) {
  ASSERT_NO_FATAL_FAILURE(stage_glyphs());
  if (!can_mount()) GTEST_SKIP() << kNoMounts;
  const ProgramResult result =
      run("ml_vart",
          {"sh", "-c", "id -u; basename \"$PWD\"; test -e /etc/passwd && exit \"$1\"", "-", "7"});
  EXPECT_EQ(result.exit_code, 7) << result.err;
  EXPECT_EQ(result.out, std::to_string(::getuid()) + "\nml_vart\n");
}

TEST_F(StageBoard, OnBoardTakesAStagedTreeOnly) {
  const std::string here = directory_.path().string();
  EXPECT_THAT(run_program({kOnBoard, here, "true"}, here).err,
              HasSubstr("is no tree that stage-board.sh made"));
  EXPECT_EQ(run_program({kOnBoard, here, "true"}, here).exit_code, 1);
  EXPECT_EQ(run_program({kOnBoard}, here).exit_code, 2);
}

}  // namespace
}  // namespace millrace::test
