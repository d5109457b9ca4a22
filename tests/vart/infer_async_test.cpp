// samples/vart_infer_async as its users see it: output lines, files, exit codes.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/subprocess.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

namespace fs = std::filesystem;

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class InferAsync : public RunnerTest {
 protected:
  InferAsync() { fs::create_directory(work_); }

  test::ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MILLRACE_INFER_ASYNC);
    return test::run_program(arguments, work_);
  }
  // A raw input file of `rows` rows of the HW view, plus `extra` bytes.
  std::string input_file(size_t rows, size_t extra = 0) {
    const std::string path = directory_.file("ifm.bin");
    std::ofstream(path, std::ios::binary) << std::string(rows * kRowBytes + extra, '\5');
    return path;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(work_))
      names.push_back(entry.path().filename());
    return names;
  }
  void expect_failure(const test::ProgramResult& result, const std::string& reason) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, ContainsRegex("^(\\[INFO\\] [^\n]*\n)?Error: "));
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_THAT(files(), IsEmpty());
  }

  static constexpr size_t kRowBytes = 4 * 4 * 4 * 4;         // "data" as [4, 1, 4, 1, 4] FLOAT32
  static constexpr size_t kOutputBytes = 4 * 2 * 4 * 8 * 4;  // "probs" as [4, 2, 4, 1, 8]
  const std::string work_ = directory_.file("work");
};

TEST_F(InferAsync, DryRunTouchesNoFiles) {
  const test::ProgramResult result = run({model(), "--dry-run", "-n", "20"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("Mode               : dry-run (no IFM/OFM file I/O; random IFM fill)\n"));
  EXPECT_THAT(
      result.out,
      HasSubstr("[INFO] dry-run: filled 1 frame(s) with random bytes (no IFM file read).\n"));
  EXPECT_THAT(result.out, HasSubstr("---- Async infer (binary IFM) pass "));
  EXPECT_THAT(result.out, HasSubstr("Batches completed: 20 / 20\n"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(InferAsync, WritesTheOutputOfTheLastIteration) {
  const test::ProgramResult result = run({model(), input_file(1)});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Wrote output_p1_f9_0.bin (1024 bytes, 1 batch rows) "
                                    "name=probs dtype=FLOAT32 frame=9 tensor=0\n"));
  EXPECT_THAT(result.out, HasSubstr("---- output dump ----\n"));
  EXPECT_THAT(result.out, HasSubstr("Only last iteration OFM is written (see messages above).\n"));
  EXPECT_THAT(result.out, HasSubstr("Batches completed: 10 / 10\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("copy_frame_to_slot")));
  EXPECT_THAT(files(), UnorderedElementsAre("output_p1_f9_0.bin"));
  EXPECT_EQ(fs::file_size(work_ + "/output_p1_f9_0.bin"), kOutputBytes);
}

TEST_F(InferAsync, TakesTheFlagsOfBothGenerations) {
  for (const char* flag : {"--input-binary", "--input_binary"}) {
    const test::ProgramResult result =
        run({"--model-path", model(), flag, input_file(1), "--num-iteration", "3"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("Batches completed: 3 / 3\n"));
  }
  const test::ProgramResult cpu = run({model(), input_file(1), "--input-tensor-type", "cpu",
                                       "--output-tensor-type", "Cpu", "-n", "4"});
  EXPECT_EQ(cpu.exit_code, 0) << cpu.err;
  EXPECT_EQ(fs::file_size(work_ + "/output_p1_f3_0.bin"), 10u * 4 * 4 * 4) << "the CPU view";
}

TEST_F(InferAsync, FillsShortBatchesWithZeroAndSaysSoOncePerSlot) {
  const std::string path = model({.batch_size = 4});
  const test::ProgramResult result = run({path, input_file(2), "-n", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string line =
      "[INFO] copy_frame_to_slot: IFM has 2 full row(s); need 4 row(s) for frame_index=0 and "
      "batch_size=4. Short slots are zero-filled.\n";
  const size_t first = result.out.find(line);
  ASSERT_NE(first, std::string::npos);
  const size_t second = result.out.find(line, first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(result.out.find(line, second + 1), std::string::npos);
  EXPECT_THAT(result.out, HasSubstr("(4096 bytes, 4 batch rows)"));
  EXPECT_EQ(fs::file_size(work_ + "/output_p1_f1_0.bin"), 4 * kOutputBytes);
}

TEST_F(InferAsync, WritesOneRowForOneRow) {
  const std::string path = model({.batch_size = 4});
  const test::ProgramResult result = run({path, input_file(1, 17), "-n", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(fs::file_size(work_ + "/output_p1_f1_0.bin"), kOutputBytes);
}

TEST_F(InferAsync, RaisesOneIterationToTwo) {
  const test::ProgramResult result = run({model(), "-d", "-n", "1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, StartsWith("[WARN]"));
  EXPECT_THAT(result.out, HasSubstr("Batches completed: 2 / 2\n"));
}

TEST_F(InferAsync, BenchmarkTimesBothPassesAndWritesNothing) {
  for (const std::vector<std::string>& input :
       {std::vector<std::string>{"--dry-run"}, std::vector<std::string>{input_file(1)}}) {
    std::vector<std::string> arguments = {model(), "--benchmark", "-n", "5"};
    arguments.insert(arguments.end(), input.begin(), input.end());
    const test::ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, ::testing::ContainsRegex("\\[INFO\\] async infer pass: [0-9.]+ ms "
                                                     "\\([0-9.]+ ms/frame\\) \\[5 frames\\]"));
    EXPECT_THAT(result.out, ::testing::ContainsRegex("\\[INFO\\] sync infer pass: [0-9.]+ ms "
                                                     "\\([0-9.]+ ms/frame\\) \\[5 frames\\]"));
    EXPECT_THAT(result.out, Not(HasSubstr("Batches completed")));
    EXPECT_THAT(files(), IsEmpty());
  }
}

TEST_F(InferAsync, HelpIsNoFailure) {
  const test::ProgramResult result = run({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* option : {"--model-path", "--input-binary", "--num-iteration", "--dry-run",
                             "--benchmark", "--input-tensor-type", "--output-tensor-type"})
    EXPECT_THAT(result.out, HasSubstr(option));
}

TEST_F(InferAsync, RefusesWhatMakesNoSense) {
  const std::string path = model();
  expect_failure(run({}), "--model-path");
  expect_failure(run({directory_.file("none.rai"), "-d"}), "none.rai");
  expect_failure(run({path}), "--input-binary");
  expect_failure(run({path, "-d", "-n", "0"}), "at least 1");
  expect_failure(run({path, "-d", "-n", "-3"}), "at least 1");
  expect_failure(run({path, "-d", "-n", "many"}), "many");
  expect_failure(run({path, "-d", "--nosuch"}), "nosuch");
  expect_failure(run({path, "-d", "--input-tensor-type", "GPU"}), "GPU");
  expect_failure(run({path, directory_.file("none.bin")}), "none.bin");
  expect_failure(run({path, input_file(0, kRowBytes - 1)}), "one row takes 256");
}

TEST_F(InferAsync, RefusesAFileThatIsNoModel) {
  const std::string path = directory_.file("broken.rai");
  std::ofstream(path, std::ios::binary) << "no archive";
  expect_failure(run({path, "-d"}), "broken.rai");
}

}  // namespace
}  // namespace millrace::vartml
