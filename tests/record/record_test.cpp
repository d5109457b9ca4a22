// Programs are recorded through each API, and their jobs give the same outputs once more.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/record/recorded_program.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class RecordTest : public RecordedProgram {
 protected:
  // Returns the first file of an output that the record has.
  std::string output_file() const {
    std::istringstream text(lines());
    for (std::string line; std::getline(text, line);)
      if (const json parsed = json::parse(line); parsed.contains("completed"))
        return folder() + "/" + parsed["outputs"][0]["file"].get<std::string>();
    return "";
  }
  // Runs a job and, unless `alone`, another in the same unit, which reads what the first writes.
  std::vector<Status> run_chain(bool alone = false) const {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(path).ok());
    Device device = *Device::open();
    const Model model = *device.load(path);
    Unit unit = *device.create_unit({.depth = 2});
    const size_t in = model.inputs()[0].cpu.bytes / sizeof(float);
    const size_t out = model.outputs()[0].cpu.bytes / sizeof(float);
    std::vector<float> picture = tiny_numbers(in, 1), middle(out), scores(out);
    const TensorArg first_in{std::span(picture)}, first_out{std::span(middle)};
    const TensorArg second_in{std::span(middle).first(in)}, second_out{std::span(scores)};
    Job first = *unit.submit(model, {.inputs = {&first_in, 1}, .outputs = {&first_out, 1}});
    if (alone) return {first.wait()};
    Job second = *unit.submit(model, {.inputs = {&second_in, 1}, .outputs = {&second_out, 1}});
    return {first.wait(), second.wait()};
  }
  ProgramResult run_hazard_program(const std::string& program) const {
    const std::string model = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(model).ok());
    return run_program(
        {std::string(MILLRACE_HAZARD_PROGRAMS) + "/" + program, model, "shared_output_right"},
        directory_.path());
  }
};

TEST_F(RecordTest, JobsOfTwoModelsGiveTheSameOutputs) {
  run_jobs();
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{}, {"--in-time"}}) {
    const ProgramResult result = replay(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "8 jobs: 8 equal, 0 different, 0 not compared\n");
  }
}

// Its input is recorded as it is when the job starts: at the submit it is not there yet.
TEST_F(RecordTest, AJobReadsWhatTheOneBeforeItWrites) {
  for (const Status& status : run_chain()) EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(replay().out, "2 jobs: 2 equal, 0 different, 0 not compared\n");
}

// The fault is not in the record.
TEST_F(RecordTest, AJobThatFailedMaySucceed) {
  ::setenv("MILLRACE_FAULTS", "fail=1", 1);
  EXPECT_EQ(run_chain(true)[0].code(), StatusCode::kDeviceFailed);
  ::unsetenv("MILLRACE_FAULTS");
  const ProgramResult result = replay();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::ContainsRegex("job [0-9]+:1 of [^:]+: recorded DEVICE_FAILED, "
                                                 "now OK\n"))
      << "the name that a log and a timeline have";
  EXPECT_THAT(result.out, HasSubstr("0 equal, 0 different, 1 not compared\n"));
}

TEST_F(RecordTest, AChangedOutputIsFound) {
  run_jobs();
  std::fstream file(output_file(), std::ios::in | std::ios::out | std::ios::binary);
  const float wrong = 1000;
  file.write(reinterpret_cast<const char*>(&wrong), sizeof wrong);
  file.close();
  const ProgramResult result = replay();
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("output probs, frame 0: 1 of 160 elements differ, by "));
  const json report = json::parse(replay({"--json"}).out);
  EXPECT_EQ(report["different"], 1);
  EXPECT_EQ(replay({"--atol", "1e4"}).exit_code, 0);
}

TEST_F(RecordTest, JobsAreKeptWithoutTheirTensors) {
  ::setenv("MILLRACE_RECORD_INPUTS", "0", 1);
  run_jobs();
  EXPECT_TRUE(std::filesystem::is_empty(folder() + "/tensors"));
  const ProgramResult result = replay();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "8 jobs: 0 equal, 0 different, 8 not compared\n");
}

TEST_F(RecordTest, AProgramOfVartIsRecorded) {
  const ProgramResult program = run_hazard_program("vart_hazards");
  EXPECT_EQ(program.exit_code, 0) << program.err;
  const ProgramResult result = replay();
  EXPECT_EQ(result.out, "2 jobs: 2 equal, 0 different, 0 not compared\n") << result.err;
}

TEST_F(RecordTest, AProgramOfNrtIsRecorded) {
  const ProgramResult program = run_hazard_program("nrt_hazards");
  EXPECT_EQ(program.exit_code, 0) << program.err;
  const ProgramResult result = replay();
  EXPECT_EQ(result.out, "2 jobs: 2 equal, 0 different, 0 not compared\n") << result.err;
}

// A second process with the same variable, such as a child of the first, does not mix its jobs in.
TEST_F(RecordTest, AFolderHasOneRecord) {
  EXPECT_EQ(run_hazard_program("vart_hazards").exit_code, 0);
  const std::string first = lines();
  EXPECT_EQ(run_hazard_program("vart_hazards").exit_code, 0);
  EXPECT_EQ(lines(), first);
}

}  // namespace
}  // namespace millrace::test
