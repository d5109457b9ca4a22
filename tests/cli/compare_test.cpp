#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

class CompareTest : public CliTest {
 protected:
  CompareTest() {
    std::vector<float> picture(32 * 32);
    for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i % 7) / 7;
    EXPECT_TRUE(io::write_file(file("image.bin"), std::as_bytes(std::span(picture))).ok());
  }

  ProgramResult compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--input", file("image.bin")});
    return millrace(arguments);
  }

  // A NumPy array of FLOAT32 in the folder "reference".
  void write_reference(const std::string& name, const std::string& shape,
                       const std::vector<float>& elements) const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize(118 - 1, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float));
    fs::create_directory(file("reference"));
    EXPECT_TRUE(
        io::write_file(file("reference/" + name + ".npy"), std::as_bytes(std::span(bytes))).ok());
  }

  // The scores that the network computes for the picture.
  std::vector<float> scores() const {
    const ProgramResult result =
        millrace({"run", kGlyphsOnnx, "--input", file("image.bin"), "--output-dir", file("out")});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto bytes = io::read_file(file("out/scores.bin"));
    EXPECT_TRUE(bytes.ok());
    std::vector<float> elements(bytes->size() / sizeof(float));
    std::memcpy(elements.data(), bytes->data(), bytes->size());
    return elements;
  }
};

TEST_F(CompareTest, AModelIsEqualToItself) {
  const std::string archive = compiled("glyphs.rai");
  const ProgramResult result = compare({archive, kGlyphsOnnx, "--threshold", "0", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_TRUE(report["first_beyond"].is_null());
  EXPECT_EQ(report["not_compared"], 0);
  EXPECT_GT(report["layers"].size(), 3u) << "inner values are compared, too";
  EXPECT_EQ(report["layers"].back()["value"], "scores");
}

TEST_F(CompareTest, TwoPrecisionsDifferLayerByLayer) {
  const std::string fp32 = compiled("fp32.rai");
  const std::string bf16 = compiled("bf16.rai", {"--precision", "bf16"});
  const ProgramResult loose = compare({bf16, fp32, "--threshold", "0.5"});
  EXPECT_EQ(loose.exit_code, 0) << loose.out << loose.err;
  EXPECT_THAT(loose.out, HasSubstr("scores [1,"));
  EXPECT_THAT(loose.out, HasSubstr("0 of "));
}

TEST_F(CompareTest, TheFirstValueBeyondTheThresholdIsMarked) {
  std::vector<float> wrong = scores();
  wrong[0] += 100;
  write_reference("scores", "1, " + std::to_string(wrong.size()), wrong);
  const ProgramResult result = compare({kGlyphsOnnx, "--reference", file("reference")});
  EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("<- the first beyond 0.001"));
  EXPECT_THAT(result.out, HasSubstr("1 of 1 values differ"));
}

TEST_F(CompareTest, AReferenceThatAgreesIsWithin) {
  const std::vector<float> right = scores();
  write_reference("scores", "1, " + std::to_string(right.size()), right);
  const ProgramResult result = compare({kGlyphsOnnx, "--reference", file("reference")});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

// Quantised values are compared as integers, by their names in the file. The other side is compiled
// with --reference, which computes each operator of the model by itself.
TEST_F(CompareTest, QuantisedValuesDifferBySteps) {
  const std::string quantised = file("quantised.onnx");
  compiled("int8.rai",
           {"--precision", "int8", "--calibrate", file("image.bin"), "--emit-qdq", quantised});
  const ProgramResult made =
      millrace({"compile", quantised, "-o", file("written.rai"), "--reference"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::vector<std::string> models = {quantised, file("written.rai"), "--threshold", "1"};
  std::vector<std::string> with_json = models;
  with_json.push_back("--json");
  const Json report = Json::parse(compare(with_json).out);
  size_t integers = 0;
  for (const Json& layer : report["layers"]) {
    if (layer["steps"].is_null()) continue;
    ++integers;
    EXPECT_EQ(layer["steps"], layer["largest"]);
    EXPECT_LE(layer["steps"], 2) << layer["value"];
  }
  EXPECT_GT(integers, 3u) << "inner values are compared, too";
  EXPECT_THAT(compare(models).out, HasSubstr("integers differ by "));
}

// Quantisation adds a suffix to the names of values, whose real numbers are compared then.
TEST_F(CompareTest, AQuantisedModelIsComparedWithItsOriginalLayerByLayer) {
  const std::string fp32 = compiled("fp32.rai");
  const std::string int8 =
      compiled("int8.rai", {"--precision", "int8", "--calibrate", file("image.bin")});
  const Json forth = Json::parse(compare({fp32, int8, "--threshold", "1", "--json"}).out);
  const Json back = Json::parse(compare({int8, fp32, "--threshold", "1", "--json"}).out);
  EXPECT_EQ(forth["not_compared"], 0);
  EXPECT_EQ(back["not_compared"], 1) << "the input, which no node of the original makes";
  EXPECT_GT(forth["layers"].size(), 3u);
  EXPECT_EQ(forth["layers"].size(), back["layers"].size());
  for (const Json& layer : forth["layers"]) {
    EXPECT_TRUE(layer["steps"].is_null()) << layer["value"];
    EXPECT_GT(layer["cosine"], 0.9) << layer["value"];
  }
}

TEST_F(CompareTest, WhatCannotBeComparedIsSaid) {
  expect_wrong_command_line(compare({kGlyphsOnnx}), "a second model or --reference");
  expect_wrong_command_line(
      compare({kGlyphsOnnx, kGlyphsOnnx, "--reference", directory_.path().string()}), "not both");
  expect_failure(compare({kGlyphsOnnx, "--reference", file("nowhere")}), "nowhere");
  fs::create_directory(file("empty"));
  expect_failure(compare({kGlyphsOnnx, "--reference", file("empty")}), "no value is on both sides");
  write_reference("scores", "1, 3", {1, 2, 3});
  expect_failure(compare({kGlyphsOnnx, "--reference", file("reference")}), "scores.npy");
  expect_wrong_command_line(compare({compiled("a.rai"), kGlyphsOnnx, "--precision", "bf16"}),
                            "--precision");
}

}  // namespace
}  // namespace millrace::test
