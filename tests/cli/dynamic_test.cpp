// Models whose dimensions jobs settle: on the device of tests/support/open_plugin.cpp, which takes
// [?,3] and gives the elements above 0, doubled.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "graph/archive/codec.h"
#include "io/file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/graph/dynamic_model.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

class DynamicTest : public CliTest {
 protected:
  DynamicTest() {
    ::setenv("MILLRACE_PLUGIN_DIR", MILLRACE_OPEN_PLUGIN_DIR, 1);
    EXPECT_TRUE(write_tiny_model(file("tiny.rai"), {.batch_size = 2}).ok());
  }
  ~DynamicTest() override { ::unsetenv("MILLRACE_PLUGIN_DIR"); }

  std::string raw(const std::string& name, const std::vector<float>& values) const {
    EXPECT_TRUE(io::write_file(file(name), std::as_bytes(std::span(values))).ok());
    return file(name);
  }

  std::string array(const std::string& name, const std::string& shape,
                    const std::vector<float>& values) const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(118, ' ');
    std::string content = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header;
    content.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    EXPECT_TRUE(io::write_file(file(name), std::as_bytes(std::span(content))).ok());
    return file(name);
  }

  ProgramResult run(const std::string& input, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"run",  file("tiny.rai"), "--device",
                                          "open", "--input",        input};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return millrace(arguments);
  }
};

TEST_F(DynamicTest, TheShapeOfAnInputIsThatOfItsArray) {
  const ProgramResult result = run(array("a.npy", "(2, 3)", {1, 0, 3, 4, 0, 0}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("probs  FLOAT32 GENERIC [3]  min 2 max 8"));
}

TEST_F(DynamicTest, AStackOfArraysIsFrames) {
  const ProgramResult result =
      run(array("a.npy", "(3, 1, 3)", {1, 0, 3, 0, 0, 0, 1, 2, 3}), {"--output-dir", file("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[1]\nprobs  FLOAT32 GENERIC [0]  empty"));
  EXPECT_THAT(result.out, HasSubstr("[2]\nprobs  FLOAT32 GENERIC [3]"));
  EXPECT_EQ(io::read_file(file("out/probs.bin"))->size(), (2 + 0 + 3) * sizeof(float));
}

TEST_F(DynamicTest, RawBytesNeedAShape) {
  const std::string input = raw("a.bin", {1, 2, 3, 4, 5, 6});
  expect_failure(run(input), "--shape data=");
  const ProgramResult one = run(input, {"--shape", "data=2,3"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("[6]"));
  const ProgramResult two = run(input, {"--shape", "data=1,3"});
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("[1]\nprobs  FLOAT32 GENERIC [3]"));
}

TEST_F(DynamicTest, ShapesThatDoNotFitAreRefused) {
  const std::string input = raw("a.bin", {1, 2, 3});
  expect_failure(run(input, {"--shape", "data=1,4"}), "[?,3]");
  expect_wrong_command_line(run(input, {"--shape", "data=1,x"}), "1,x");
  expect_failure(run(input, {"--shape", "other=1,3"}), "no input 'other'");
  expect_failure(run(input, {"--shape", "data=1,3", "--shape", "data=1,3"}),
                 "input 'data' is given two shapes");
  expect_failure(run(array("a.npy", "(3, 2)", {1, 2, 3, 4, 5, 6})), "[3,2]");
}

TEST_F(DynamicTest, LargeOutputsGetTheRoomThatTheyTake) {
  const ProgramResult result = run(array("a.npy", "(20000, 3)", std::vector<float>(60000, 1)),
                                   {"--output-dir", file("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[60000]  min 2 max 2"));
  EXPECT_EQ(io::read_file(file("out/probs.bin"))->size(), 60000 * sizeof(float));
}

TEST_F(DynamicTest, BenchNeedsTheShapesOfInputs) {
  const std::vector<std::string> bench = {"bench", file("tiny.rai"), "--device", "open", "-n", "3"};
  expect_failure(millrace(bench), "--shape data=");
  expect_failure(millrace({"bench", file("tiny.rai"), "--device", "open", "--view", "hw", "--shape",
                           "data=1,3"}),
                 "CPU view only");
  std::vector<std::string> with_shape = bench;
  with_shape.insert(with_shape.end(), {"--shape", "data=30000,3"});
  const ProgramResult result = millrace(with_shape);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("frames/s"));
}

TEST_F(DynamicTest, TheAdviceForOpenShapesFitsTheInput) {
  expect_failure(millrace({"bench", file("tiny.rai"), "--device", "open"}),
                 "'data' [?,3]; set them, as with --shape data=1,3");
}

TEST_F(DynamicTest, GoldenComparesOutputsInTheShapeThatTheyHave) {
  const std::string input = raw("a.bin", {1, 0, 3});
  const auto golden = [&] {
    return millrace({"golden", file("tiny.rai"), file("board"), "--device", "open", "--input",
                     "data=" + input, "--shape", "data=1,3"});
  };
  std::filesystem::create_directory(file("board"));
  const std::string dumped = raw("board/output_p1_f0_0.bin", {2, 6});
  EXPECT_EQ(golden().exit_code, 0) << golden().err;
  raw("board/output_p1_f0_0.bin", {2, 7});
  EXPECT_EQ(golden().exit_code, 3) << golden().err;
  raw("board/output_p1_f0_0.bin", {2, 6, 7});
  EXPECT_THAT(golden().err, HasSubstr("12 bytes"));
}

TEST_F(DynamicTest, ProfilesAreLoweredWhenTheModelIsCompiled) {
  const auto compile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"compile", kGlyphsOnnx, "-o", file("a.rai")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return millrace(arguments);
  };
  const std::string open = "image=?,1,32,32";
  const ProgramResult none = compile({"--input-shape", open});
  ASSERT_EQ(none.exit_code, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("dynamic"));
  EXPECT_THAT(none.out, HasSubstr("input \"image\" is [?,1,32,32]"));
  const ProgramResult two = compile({"--input-shape", open, "--profile", "one:image=1,1,32,32",
                                     "--profile", "four:image=4,1,32,32"});
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("profile \"one\""));
  EXPECT_THAT(millrace({"inspect", file("a.rai")}).out, HasSubstr("  four  image [4,1,32,32]\n"));

  expect_failure(compile({"--profile", "one:image=1,1,32,32"}), "static");
  expect_failure(compile({"--input-shape", open, "--profile", "one"}), "write it like");
  expect_failure(compile({"--input-shape", open, "--profile", "one:"}),
                 "no shape for input 'image'");
  expect_failure(compile({"--input-shape", open, "--profile", "one:image=1,1,32,33"}),
                 "the input's shape is [?,1,32,32]");
  expect_wrong_command_line(compile({"--input-shape", open, "--input-shape", "image=1,1,32,32"}),
                            "input 'image' is given two");
  expect_failure(compile({"--input-shape", open, "--profile", "one:image=1,1,32,32", "--profile",
                          "one:image=2,1,32,32"}),
                 "two profiles are named");
}

TEST_F(DynamicTest, PassesOfOpenShapesAreNotDumped) {
  expect_failure(millrace({"compile", kGlyphsOnnx, "-o", file("a.rai"), "--input-shape",
                           "image=?,1,32,32", "--dump-passes", file("passes")}),
                 "--input-shape");
}

TEST_F(DynamicTest, ExplainAndCompareTakeTheShapesThatAreGiven) {
  ::unsetenv("MILLRACE_PLUGIN_DIR");  // the device is the CPU
  const std::string open = compiled("open.rai", {"--input-shape", "image=?,1,32,32"});
  expect_failure(millrace({"explain", open}), "--shape image=");
  const ProgramResult explained = millrace({"explain", open, "--shape", "image=2,1,32,32"});
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("partition 0: NPU"));

  const std::string input = raw("image.bin", std::vector<float>(2 * 32 * 32, 0.5f));
  const std::string two = compiled("two.rai", {"--input-shape", "image=2,1,32,32"});
  const ProgramResult compared =
      millrace({"compare", open, two, "--input", input, "--shape", "image=2,1,32,32"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("scores [2,40]"));
}

TEST_F(DynamicTest, InspectShowsWhatIsOpen) {
  ASSERT_TRUE(model::write_archive(graph::encode(dynamic_model()), file("open.rai"),
                                   model::ArchiveForm::kFile)
                  .ok());
  const ProgramResult text = millrace({"inspect", file("open.rai")});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("dynamic"));
  EXPECT_THAT(text.out, HasSubstr("FLOAT32 NCHW [1,3,?,64]\n"));
  EXPECT_THAT(text.out, HasSubstr("INT64 GENERIC of any rank"));
  EXPECT_THAT(text.out, HasSubstr("com.example.EveryKind"));
  const ProgramResult result = millrace({"inspect", file("open.rai"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json model = Json::parse(result.out);
  EXPECT_EQ(model["dynamic"], true);
  EXPECT_EQ(model["inputs"][0]["cpu"]["shape"], Json({1, 3, nullptr, 64}));
  EXPECT_TRUE(model["inputs"][1]["cpu"]["shape"].is_null());
  EXPECT_EQ(model["operators"]["Add"], 2) << "of the innermost branch, which is there twice";
}

}  // namespace
}  // namespace millrace::test
