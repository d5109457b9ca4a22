// Tests the lines of `millrace compile` and `inspect` on HW views of quantised tensors.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <span>

#include "io/file.h"
#include "tests/cli/quantise/int8_fixture.h"
#include "tests/compiler/onnx_builder.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// A picture in UINT8 with zero point 114, scores in UINT8 with zero point 3.
std::string quantised_onnx(int64_t batch) {
  using compiler::test::TensorProto;
  compiler::test::Model onnx;
  onnx.input("image", {batch, 3, 4, 4}).output("scores", TensorProto::FLOAT);
  onnx.floats("scale", {}, {0.018658F});
  onnx.constant(compiler::test::int_tensor("in_zero", {}, {114}, TensorProto::UINT8));
  onnx.constant(compiler::test::int_tensor("out_zero", {}, {3}, TensorProto::UINT8));
  onnx.node("QuantizeLinear", {"image", "scale", "in_zero"}, {"q"});
  onnx.node("DequantizeLinear", {"q", "scale", "in_zero"}, {"x"});
  onnx.node("Sigmoid", {"x"}, {"y"});
  onnx.node("QuantizeLinear", {"y", "scale", "out_zero"}, {"r"});
  onnx.node("DequantizeLinear", {"r", "scale", "out_zero"}, {"scores"});
  return onnx.bytes();
}

class QuantisedViews : public Int8Test {
 protected:
  void write(int64_t batch) const {
    const std::string onnx = quantised_onnx(batch);
    EXPECT_TRUE(io::write_file(file("q.onnx"), std::as_bytes(std::span(onnx))).ok());
  }
  ProgramResult compile(std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"compile", file("q.onnx"), "-o", file("q.rai")});
    return millrace(flags);
  }
  Json inspected() const {
    const ProgramResult result = millrace({"inspect", file("q.rai"), "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  }
};

TEST_F(QuantisedViews, AreInTheVendorsFormAndCompileSaysWhatThatCosts) {
  write(1);
  const ProgramResult result = compile();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("HW view of input \"image\": INT8, scale 0.03125, zero point 0, "
                        "requantised; the model's own is UINT8, scale 0.018658, zero point 114; "
                        "its values change by at most 0.83 of that scale, RMS 0.48\n"));
  EXPECT_THAT(result.out, HasSubstr("HW view of output \"scores\": INT8, scale 0."));
  const Json input = inspected()["inputs"][0];
  EXPECT_EQ(input["hw"]["type"], "INT8");
  EXPECT_EQ(input["quantisation"]["scale"], 0.03125);
  EXPECT_EQ(input["quantisation"]["zero_point"], 0);
  EXPECT_EQ(input["quantisation"]["model"]["type"], "UINT8");
  EXPECT_EQ(input["quantisation"]["model"]["zero_point"], 114);
  EXPECT_THAT(millrace({"inspect", file("q.rai")}).out,
              HasSubstr("requantised: the model's own is UINT8 scale 0.01865"));
}

TEST_F(QuantisedViews, KeepTheModelsFormWhereThatIsAskedFor) {
  write(1);
  const ProgramResult result = compile({"--hw-quantisation", "model"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("HW view of input \"image\": the model's own UINT8, scale 0.018658, zero "
                        "point 114, which programs for the board do not expect\n"));
  const Json input = inspected()["inputs"][0];
  EXPECT_EQ(input["hw"]["type"], "UINT8");
  EXPECT_EQ(input["quantisation"]["zero_point"], 114);
  EXPECT_FALSE(input["quantisation"].contains("model"));
}

TEST_F(QuantisedViews, OfDeclaredIntegersAreNotConverted) {
  compiler::test::Model onnx;
  onnx.input("image", {1, 3, 4, 4}, compiler::test::TensorProto::UINT8).output("scores");
  onnx.floats("scale", {}, {0.018658F});
  onnx.constant(compiler::test::int_tensor("zero", {}, {114}, compiler::test::TensorProto::UINT8));
  onnx.node("DequantizeLinear", {"image", "scale", "zero"}, {"x"}).node("Relu", {"x"}, {"scores"});
  const std::string bytes = onnx.bytes();
  ASSERT_TRUE(io::write_file(file("q.onnx"), std::as_bytes(std::span(bytes))).ok());
  const ProgramResult result = compile();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("HW view of input \"image\": UINT8 as the model declares it, "
                                    "not converted: its integers represent real values with scale "
                                    "0.018658 and zero point 114,"));
  const Json input = inspected()["inputs"][0];
  EXPECT_EQ(input["hw"]["type"], "UINT8");
  EXPECT_EQ(input["quantisation"]["scale"], 1.0);
}

TEST_F(QuantisedViews, OfProfilesAreAsTheArchiveSays) {
  write(-1);
  for (const std::string form : {"vendor", "model"}) {
    const ProgramResult result = compile({"--hw-quantisation", form, "--input-shape",
                                          "image=?,3,4,4", "--profile", "one:image=1,3,4,4"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(inspected()["hw_quantisation"], form);
    EXPECT_THAT(millrace({"inspect", file("q.rai")}).out,
                HasSubstr("profiles, with HW views of quantised tensors in the " + form));
  }
}

// Our own quantiser uses UINT8 for an input that has no negative numbers.
TEST_F(QuantisedViews, OfACalibratedModelAreMeasuredOnItsSamples) {
  const ProgramResult result = quantise({"--quantise-outputs"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("HW view of input \"image\": INT8, scale 0\\.0[0-9]+, "
                                        "zero point 0, requantised; .*; on the samples by at most "
                                        "[0-9.]+ of that scale, RMS [0-9.]+\n"));
  EXPECT_THAT(result.out, ContainsRegex("HW view of output \"scores\": INT8, scale .*samples"));
  EXPECT_THAT(result.out,
              HasSubstr("outputs through HW views against CPU views: mean cosine 0.99"));
  EXPECT_THAT(result.out, HasSubstr("top-1 the same for 16 of 16 samples"));
}

TEST_F(QuantisedViews, OfAModelThatIsQuantisedAlreadyAreMeasuredToo) {
  write(1);
  const std::vector<float> sample(3 * 4 * 4, 0.7F);
  ASSERT_TRUE(io::write_file(file("sample.bin"), std::as_bytes(std::span(sample))).ok());
  const ProgramResult result = compile({"--calibrate", file("sample.bin")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // 0.7 is held as 0.6875, and 38 steps of the model become 37.
  EXPECT_THAT(result.out, HasSubstr("; on the samples by at most 1.00 of that scale, RMS 1.00\n"));
  expect_failure(compile({"--calibrate", file("sample.bin"), "--hw-quantisation", "model"}),
                 "which this model does not have");
}

TEST_F(QuantisedViews, OfAModelInTheVendorsFormCostNothing) {
  const ProgramResult result = quantise({"--power-of-two-scales"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("HW view of input \"image\": the model's own INT8, scale "));
  EXPECT_THAT(result.out, Not(HasSubstr("requantised")));
}

}  // namespace
}  // namespace millrace::test
