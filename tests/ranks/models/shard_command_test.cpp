// `millrace shard` as a user runs it.
#include <gmock/gmock.h>

#include <filesystem>

#include "compiler/export/onnx_writer.h"
#include "tests/ranks/models/transformer.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class ShardCommand : public ::testing::Test {
 protected:
  ProgramResult shard(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {MILLRACE_PROGRAM, "shard"});
    return run_program(arguments, directory_.path());
  }
  // A transformer in a file.
  std::string model(const Transformer& options = {.blocks = 1}) {
    EXPECT_TRUE(compiler::write_onnx(make_transformer(options), directory_.file("net.onnx")).ok());
    return "net.onnx";
  }
  bool exists(const std::string& name) { return std::filesystem::exists(directory_.file(name)); }

  const TemporaryDirectory directory_;
};

TEST_F(ShardCommand, WritesAFileForEveryRankThatCompiles) {
  const ProgramResult result = shard({model({.projections = Projections::kGathered, .blocks = 1}),
                                      "--tensor-parallel", "2", "-o", "parts"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("7 products divided among 2 ranks"));
  for (const std::string rank : {"0", "1"}) {
    const std::string part = directory_.file("parts/net.rank" + rank + "-of-2.onnx");
    EXPECT_THAT(result.out, HasSubstr("net.rank" + rank + "-of-2.onnx"));
    const ProgramResult compiled =
        run_program({MILLRACE_PROGRAM, "compile", part, "-o", directory_.file("rank.rai")}, "/");
    EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
    const ProgramResult shown =
        run_program({MILLRACE_PROGRAM, "inspect", directory_.file("rank.rai")}, "/");
    EXPECT_THAT(shown.out, HasSubstr("com.microsoft.AllReduce"));
    EXPECT_THAT(shown.out, HasSubstr("none: it lies on a collective partition"));
    const ProgramResult explained =
        run_program({MILLRACE_PROGRAM, "explain", directory_.file("rank.rai")}, "/");
    EXPECT_EQ(explained.exit_code, 0) << explained.err;
    EXPECT_THAT(explained.out, HasSubstr("millrace:collective"));
    EXPECT_EQ(
        run_program({MILLRACE_PROGRAM, "explain", directory_.file("rank.rai"), "--profile"}, "/")
            .exit_code,
        1);
  }
  EXPECT_FALSE(exists("parts/net.rank2-of-2.onnx"));
}

TEST_F(ShardCommand, NamesWhatIsWholeOnEveryRank) {
  const ProgramResult result =
      shard({model({.outputs = 41, .blocks = 1}), "--tensor-parallel", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("whole on every rank: "));
  EXPECT_THAT(result.out, HasSubstr("is not a multiple of 2"));
}

TEST_F(ShardCommand, WritesNothingWhereNothingCanBeDivided) {
  const ProgramResult result = shard({model(), "--tensor-parallel", "7", "-o", "parts"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no product of the model can be divided"));
  EXPECT_FALSE(exists("parts"));
}

TEST_F(ShardCommand, AModelOfOpenShapesIsRefusedWithTheOptionsThatFixThem) {
  const auto open = test_model("models/reverse_transformer.onnx");
  if (!open) GTEST_SKIP() << "no test models";
  const ProgramResult result = shard({*open, "--tensor-parallel", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("as with --input-shape input_ids=1,128 "
                                    "--input-shape attention_mask=1,128"));
}

TEST_F(ShardCommand, SaysWhatIsWrongWithItsArguments) {
  EXPECT_THAT(shard({"--help"}).out, HasSubstr("--tensor-parallel"));
  EXPECT_THAT(shard({model()}).err, HasSubstr("--tensor-parallel is required"));
  EXPECT_THAT(shard({model(), "--tensor-parallel", "1"}).err,
              AllOf(HasSubstr("--tensor-parallel: 1 is not in the range"), HasSubstr("1024")));
  const ProgramResult missing = shard({"none.onnx", "--tensor-parallel", "2"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.onnx"));
  const ProgramResult blocked = shard({model(), "--tensor-parallel", "2", "-o", "net.onnx/parts"});
  EXPECT_EQ(blocked.exit_code, 1);
  EXPECT_THAT(blocked.err, HasSubstr("net.onnx is a regular file"));
}

}  // namespace
}  // namespace millrace::test
