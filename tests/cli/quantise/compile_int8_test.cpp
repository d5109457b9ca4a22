// Each option of `millrace compile --precision int8`: what it changes, and what it refuses.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/file.h"
#include "tests/cli/quantise/int8_fixture.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kImages = kGlyphsFolder + "heldback_images.npy";

// The node that makes `value`; null for an input or an initializer.
const onnx::NodeProto* maker_of(const onnx::ModelProto& model, const std::string& value) {
  for (const onnx::NodeProto& node : model.graph().node())
    for (const std::string& output : node.output())
      if (output == value) return &node;
  return nullptr;
}

// The convolutions whose weights are integers.
size_t quantised_convolutions(const onnx::ModelProto& model) {
  return static_cast<size_t>(
      std::ranges::count_if(model.graph().node(), [&](const onnx::NodeProto& node) {
        if (node.op_type() != "Conv") return false;
        const onnx::NodeProto* weight = maker_of(model, node.input(1));
        return weight != nullptr && weight->op_type() == "DequantizeLinear";
      }));
}

// The scale of the QuantizeLinear that reads the network's input.
float input_scale(const onnx::ModelProto& model) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.op_type() != "QuantizeLinear" || node.input(0) != model.graph().input(0).name())
      continue;
    for (const onnx::TensorProto& tensor : model.graph().initializer()) {
      if (tensor.name() != node.input(1)) continue;
      if (tensor.float_data_size() > 0) return tensor.float_data(0);
      float scale = 0;
      tensor.raw_data().copy(reinterpret_cast<char*>(&scale), sizeof scale);
      return scale;
    }
  }
  ADD_FAILURE() << "no QuantizeLinear reads the input";
  return 0;
}

bool is_power_of_two(float number) {
  int exponent = 0;
  return std::frexp(number, &exponent) == 0.5F;
}

TEST_F(Int8Test, SaysHowItWasCalibrated) {
  for (const char* method : {"minmax", "percentile", "mse", "entropy"}) {
    const ProgramResult result = quantise({"--calibrate-method", method});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(std::string("calibrated by ") + method + " on 16 samples"));
  }
  samples_ = "3";
  EXPECT_THAT(quantise({}).out, HasSubstr("by percentile on 3 samples"));
}

TEST_F(Int8Test, OtherCommandsNameTheProgramInt8) {
  ASSERT_EQ(quantise({}).exit_code, 0);
  EXPECT_THAT(millrace({"explain", file("int8.rai")}).out, HasSubstr("  int8  on cpu"));
  EXPECT_THAT(millrace({"bench", file("int8.rai"), "-n", "1"}).out, HasSubstr("(int8, batch 1"));
}

TEST_F(Int8Test, MethodsChooseOtherRanges) {
  const ProgramResult widest = quantise({"--calibrate-method", "minmax"});
  const auto first = io::read_file(file("int8.rai"));
  const ProgramResult chosen = quantise({"--calibrate-method", "mse"});
  const auto second = io::read_file(file("int8.rai"));
  ASSERT_TRUE(first.ok() && second.ok()) << widest.err << chosen.err;
  EXPECT_NE(*first, *second);
}

TEST_F(Int8Test, KeptLayersStayFloatingPoint) {
  EXPECT_EQ(quantised_convolutions(emitted({})), 9U);
  EXPECT_EQ(quantised_convolutions(emitted({"--keep", "conv1,depthwise2"})), 7U) << "by node";
  EXPECT_EQ(quantised_convolutions(emitted({"--keep", "Conv"})), 0U) << "by operator";
}

TEST_F(Int8Test, OutputsAreIntegersOnRequest) {
  const auto maker = [](const onnx::ModelProto& model) {
    const onnx::NodeProto* node = maker_of(model, model.graph().output(0).name());
    return node == nullptr ? "" : node->op_type();
  };
  EXPECT_NE(maker(emitted({})), "DequantizeLinear");
  EXPECT_EQ(maker(emitted({"--quantise-outputs"})), "DequantizeLinear");
}

TEST_F(Int8Test, ScalesOfBoundariesArePowersOfTwoOnRequest) {
  EXPECT_FALSE(is_power_of_two(input_scale(emitted({}))));
  EXPECT_TRUE(is_power_of_two(input_scale(emitted({"--power-of-two-scales"}))));
}

TEST_F(Int8Test, EqualisationAndBiasCorrectionCanBeLeftOut) {
  ASSERT_EQ(quantise({}).exit_code, 0);
  const auto both = io::read_file(file("int8.rai"));
  for (const char* flag : {"--no-equalisation", "--no-bias-correction"}) {
    ASSERT_EQ(quantise({flag}).exit_code, 0) << flag;
    const auto without = io::read_file(file("int8.rai"));
    ASSERT_TRUE(both.ok() && without.ok());
    EXPECT_NE(*both, *without) << flag;
  }
}

TEST_F(Int8Test, AnAccuracyTargetKeepsLayersUntilItHolds) {
  const ProgramResult loose = quantise({"--accuracy-target", "20%"});
  const ProgramResult tight = quantise({"--accuracy-target", "0.000001"});
  ASSERT_EQ(loose.exit_code, 0) << loose.err;
  ASSERT_EQ(tight.exit_code, 0) << tight.err;
  EXPECT_THAT(loose.out, Not(HasSubstr("fp32       ")));
  EXPECT_THAT(tight.out, HasSubstr("fp32       "));
}

TEST_F(Int8Test, TheEmittedFileComputesTheSame) {
  const onnx::ModelProto model = emitted({});
  EXPECT_GT(model.graph().node_size(), 0);
  const ProgramResult result =
      millrace({"evaluate", file("int8.rai"), "--data", kImages, "--scale", "0.0039215686",
                "--limit", "40", "--against", file("qdq.onnx"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto other = nlohmann::json::parse(result.out)["models"][1];
  EXPECT_EQ(other["same_top1"], 1.0);
  EXPECT_GT(other["cosine_least"], 0.99999);
}

TEST_F(Int8Test, TheReportIsAPageWithEveryLayer) {
  const ProgramResult result = quantise({"--report", file("report.html")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto bytes = io::read_file(file("report.html"));
  ASSERT_TRUE(bytes.ok());
  const std::string page(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  for (const char* layer : {"conv1", "depthwise1", "conv7", "dense1"})
    EXPECT_THAT(page, HasSubstr(layer));
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("data:image/png"), HasSubstr("</html>")));
  EXPECT_THAT(page, Not(HasSubstr("http://"))) << "readable without a network";
}

TEST_F(Int8Test, NeedsCalibrationDataThatIsThere) {
  const auto compile = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"compile", kGlyphsOnnx, "-o", file("a.rai")});
    return millrace(flags);
  };
  expect_wrong_command_line(compile({"--precision", "int8"}), "--calibrate");
  expect_failure(compile({"--precision", "int8", "--calibrate", "nowhere"}), "nowhere");
  expect_failure(compile({"--calibrate", kImages}), "--precision int8");
  expect_wrong_command_line(compile({"--report", file("report.html")}), "--precision int8");
}

TEST_F(Int8Test, OptionsThatMakeNoSenseAreRefusedByName) {
  expect_failure(quantise({"--keep", "Softmacs"}), "Softmacs");
  expect_failure(quantise({"--keep", "Conv,GlobalPool,MatMul"}), "nothing to quantise");
  for (const char* target : {"0", "100%", "-1%", "much", "1%%"})
    expect_wrong_command_line(quantise({"--accuracy-target", target}), target);
  expect_failure(quantise({"--input-shape", "image=?,1,32,32"}), "--input-shape");
  expect_failure(quantise({"--report", file("none/report.html")}), "none/report.html");
  expect_failure(quantise({"--emit-qdq", file("none/a.onnx")}), "none/a.onnx");
}

TEST_F(Int8Test, NoOutputReplacesTheModelOrTheArchive) {
  const std::string model = file("model.onnx");
  std::filesystem::copy_file(kGlyphsOnnx, model);
  for (const char* option : {"--report", "--emit-qdq"}) {
    expect_failure(quantise({option, model}, model), "is the model itself");
    expect_failure(quantise({option, file("int8.rai")}), "is the archive itself");
  }
  EXPECT_GT(read_onnx(model).graph().node_size(), 0);
}

TEST_F(Int8Test, ValuesOutsideTheirListAreRefusedWithIt) {
  const ProgramResult method = quantise({"--calibrate-method", "mean"});
  EXPECT_EQ(method.exit_code, 2);
  EXPECT_THAT(method.err, HasSubstr("is none of minmax, percentile, mse, entropy"));
  samples_ = "0";
  const ProgramResult samples = quantise({});
  EXPECT_EQ(samples.exit_code, 2);
  EXPECT_THAT(samples.err, HasSubstr("--calibrate-samples"));
}

}  // namespace
}  // namespace millrace::test
