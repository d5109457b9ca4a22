#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CliTest, InspectSaysWhatElseAFileIs) {
  std::vector<std::byte> neff(2048);
  neff[9] = std::byte{4};  // a header of 1,024 bytes
  neff[16] = std::byte{1};
  ASSERT_TRUE(io::write_file(file("model.neff"), neff).ok());
  expect_failure(millrace({"inspect", file("model.neff")}), "it seems to be a NEFF");
  expect_failure(millrace({"compile", file("model.neff"), "-o", file("a.rai")}),
                 "this is not an ONNX model; it seems to be a NEFF");
  expect_failure(millrace({"compile", compiled("b.rai"), "-o", file("a.rai")}), "an archive");
}

TEST_F(CliTest, InspectShowsBothViews) {
  const ProgramResult result =
      millrace({"inspect", compiled("glyphs.rai", {"--precision", "bf16"}), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json model = Json::parse(result.out);
  EXPECT_EQ(model["precision"], "bf16");
  const Json& input = model["inputs"][0];
  EXPECT_EQ(input["name"], "image");
  EXPECT_EQ(input["cpu"]["type"], "FLOAT32");
  EXPECT_EQ(input["cpu"]["layout"], "NCHW");
  EXPECT_EQ(input["cpu"]["shape"], Json({1, 1, 32, 32}));
  EXPECT_EQ(input["hw"]["type"], "BF16");
  EXPECT_EQ(input["hw"]["layout"], "HCWNC4");
  EXPECT_EQ(input["hw"]["shape"], Json({32, 1, 32, 1, 4}));
  EXPECT_EQ(input["hw"]["bytes"], 32 * 32 * 4 * 2);
  EXPECT_EQ(input["quantisation"]["scale"], 1.0);
  EXPECT_EQ(model["outputs"][0]["hw"]["layout"], "GENERIC");
}

TEST_F(CliTest, InspectShowsFusedOperatorsAndAPlanThatReusesMemory) {
  const ProgramResult result = millrace({"inspect", compiled("glyphs.rai"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json model = Json::parse(result.out);
  EXPECT_FALSE(model["operators"].contains("BatchNormalization"));
  EXPECT_FALSE(model["operators"].contains("Unary")) << "an activation was not fused";
  EXPECT_FALSE(model["operators"].contains("Binary")) << "a residual was not fused";
  EXPECT_EQ(model["partitions"].size(), 1u);
  EXPECT_LT(model["memory_plan"]["arena_bytes"], model["memory_plan"]["bytes_without_reuse"]);
}

TEST_F(CliTest, InspectShowsPartitionsWithKindsAndOperators) {
  const std::string archive = compiled("glyphs.rai", {"--cpu-ops", "GlobalPool"});
  const ProgramResult result = millrace({"inspect", archive, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json partitions = Json::parse(result.out)["partitions"];
  ASSERT_EQ(partitions.size(), 3u);
  EXPECT_EQ(partitions[0]["kind"], "NPU");
  EXPECT_EQ(partitions[1]["kind"], "CPU");
  EXPECT_EQ(partitions[1]["by_operator"], Json({{"GlobalPool", 1}}));
  EXPECT_EQ(partitions[1]["first_operator"], partitions[0]["operators"]);
  const ProgramResult text = millrace({"inspect", archive});
  EXPECT_NE(text.out.find("CPU  1 operators from number"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(": 1 GlobalPool\n"), std::string::npos) << text.out;
}

TEST_F(CliTest, InspectShowsWhereABoundaryHasNoHwView) {
  const std::string archive = compiled("glyphs.rai", {"--cpu-ops", "Conv"});
  const ProgramResult result = millrace({"inspect", archive, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(Json::parse(result.out)["inputs"][0].contains("hw"));
  EXPECT_NE(millrace({"inspect", archive}).out.find("none: it lies on a CPU partition"),
            std::string::npos);
}

TEST_F(CliTest, InspectTextNamesTensorsAndOperators) {
  const ProgramResult result = millrace({"inspect", kGlyphsOnnx, "--batch", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"image", "scores", "NCHW", "HCWNC4", "Conv", "batch 4", "memory plan"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

class InspectGraphTest : public CliTest {
 protected:
  InspectGraphTest() : path_(std::getenv("PATH")) {}
  ~InspectGraphTest() override { ::setenv("PATH", path_.c_str(), 1); }

  std::string content(const std::string& name) const {
    const auto bytes = io::read_file(file(name));
    EXPECT_TRUE(bytes.ok());
    return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                      : "";
  }
  // Makes a program dot the only one that is found.
  void use_dot(const std::string& script) const {
    std::filesystem::create_directory(file("bin"));
    std::ofstream(file("bin/dot")) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(file("bin/dot"), std::filesystem::perms::owner_all);
    ::setenv("PATH", file("bin").c_str(), 1);
  }

 private:
  std::string path_;
};

TEST_F(InspectGraphTest, IsWrittenInTheLanguageOfGraphviz) {
  const std::string archive = compiled("glyphs.rai", {"--cpu-ops", "GlobalPool"});
  ASSERT_EQ(millrace({"inspect", archive, "--graph", file("a.dot")}).exit_code, 0);
  EXPECT_THAT(content("a.dot"),
              AllOf(StartsWith("digraph \"glyphs\" {\n"), EndsWith("}\n"),
                    HasSubstr("input0 [shape=ellipse, fillcolor=\"#eeeeee\", "
                              "label=\"image\\nFLOAT32 [1,1,32,32]\"];\n"),
                    HasSubstr("input0 -> node0 [label=\"FLOAT32 [1,1,32,32]\"];\n"),
                    HasSubstr("subgraph cluster1 {\n    label=\"CPU 1\";\n"),
                    ContainsRegex("node0 .*label=\"Conv"), HasSubstr("-> output0 [")));
  expect_wrong_command_line(millrace({"inspect", archive, "--graph", "a.gif"}), "end with .dot");
}

TEST_F(InspectGraphTest, IsDrawnByGraphviz) {
  use_dot("echo \"$@\"; while read -r line; do echo \"$line\"; done");
  ASSERT_EQ(millrace({"inspect", kGlyphsOnnx, "--graph", file("a.svg")}).exit_code, 0);
  EXPECT_THAT(content("a.svg"), StartsWith("-Tsvg\ndigraph"));
  use_dot("echo too old >&2; exit 1");
  const ProgramResult failed = millrace({"inspect", kGlyphsOnnx, "--graph", file("b.svg")});
  expect_failure(failed, "dot could not draw the graph: too old");
  EXPECT_FALSE(std::filesystem::exists(file("b.svg")));
  ::setenv("PATH", file("none").c_str(), 1);
  expect_failure(millrace({"inspect", kGlyphsOnnx, "--graph", file("b.svg")}),
                 "Graphviz is not installed");
}

TEST_F(CliTest, InspectSaysHowPicturesProbablyBecomeTheInput) {
  const ProgramResult json = millrace({"inspect", kGlyphsOnnx, "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const Json pictures = Json::parse(json.out)["inputs"][0]["pictures"];
  EXPECT_EQ(pictures["run_options"], "--resize crop --short-side 37 --mean 0 --scale 0.00392157");
  EXPECT_FALSE(pictures.contains("preprocess_cpu"))
      << "PreProcess makes pictures of three channels";
  EXPECT_EQ(pictures["assumed"].size(), 2u);
  const std::string text = millrace({"inspect", kGlyphsOnnx}).out;
  EXPECT_NE(text.find("millrace run ... --resize crop"), std::string::npos) << text;
  EXPECT_NE(text.find("assumed, since the model does not say: mean and scale"), std::string::npos);
}

TEST_F(CliTest, HwLayoutCanBeChosen) {
  const ProgramResult result =
      millrace({"inspect", compiled("glyphs.rai", {"--hw-layout", "image=HCWNC16"}), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["inputs"][0]["hw"]["layout"], "HCWNC16");
}

TEST_F(CliTest, FlagsOfTheCompilerAreRefusedForAnArchive) {
  const std::string archive = compiled("glyphs.rai");
  expect_wrong_command_line(millrace({"inspect", archive, "--precision", "bf16"}), "--precision");
  expect_wrong_command_line(millrace({"bench", archive, "--batch", "4"}), "--batch");
}

TEST_F(CliTest, InspectRefusesTruncatedAndForeignArchives) {
  const auto whole = io::read_file(compiled("glyphs.rai"));
  ASSERT_TRUE(whole.ok());
  for (const size_t length : {size_t{0}, size_t{3}, size_t{63}, size_t{64}, size_t{200},
                              whole->size() / 2, whole->size() - 1}) {
    ASSERT_TRUE(io::write_file(file("cut.rai"), std::span(*whole).first(length)).ok());
    expect_failure(millrace({"inspect", file("cut.rai")}), "cut.rai");
  }
  expect_failure(millrace({"inspect", kGlyphsFolder + "classes.txt"}), "classes.txt");
  expect_failure(millrace({"inspect", "none.rai"}), "none.rai");
  expect_failure(millrace({"inspect", directory_.path().string()}), "vaiml_par_0");
}

}  // namespace
}  // namespace millrace::test
