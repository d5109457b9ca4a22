// Cases that are whole, broken, wrong, or end their process.
#include "cli/conformance/run_cases.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "cli/conformance/run_case.h"
#include "tests/cli/conformance/case_folder.h"

namespace millrace::test {
namespace {

using cli::Outcome;
using cli::TestCase;
using cli::Verdict;
using testing::HasSubstr;

using Outcomes = std::map<std::string, Outcome>;

class RunCases : public testing::Test {
 protected:
  static Outcomes run(const std::vector<TestCase>& cases, const cli::CaseLimits& limits,
                      const std::function<Outcome(const TestCase&)>& function) {
    Outcomes outcomes;
    const Status status = cli::run_cases(cases, limits, function, [&](size_t i, Outcome outcome) {
      outcomes[cases[i].name] = std::move(outcome);
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(outcomes.size(), cases.size());
    return outcomes;
  }

  // In a child process, as `millrace conformance` does: this one does not open the device.
  static Outcome run(const TestCase& test) {
    return run({test}, {.jobs = 1}, cli::run_case)[test.name];
  }

  static void expect_fail(const Outcome& outcome, const std::string& reason) {
    EXPECT_EQ(outcome.verdict, Verdict::kFail);
    EXPECT_THAT(outcome.reason, HasSubstr(reason));
  }

  CaseFolder folder_;
};

TEST_F(RunCases, ACaseThatIsRightPasses) {
  const Outcome outcome = run(folder_.add("node/abs", "Abs", {1, 2, 3}));
  EXPECT_EQ(outcome.verdict, Verdict::kPass) << outcome.reason;
  EXPECT_EQ(outcome.error.ulp, 0);
}

TEST_F(RunCases, AWrongValueFailsWithItsPlaceAndError) {
  const Outcome outcome = run(folder_.add("node/abs", "Abs", {1, 2, 4}));
  expect_fail(outcome, "output 'y': 1 of 3 elements are wrong");
  EXPECT_THAT(outcome.reason, HasSubstr("element 2 is 3, expected 4"));
  EXPECT_EQ(outcome.error.absolute, 1);
}

TEST_F(RunCases, EveryDataSetCounts) {
  const TestCase test = folder_.add("node/abs", "Abs", {1, 2, 3});
  const auto second = test.folder / "test_data_set_1";
  std::filesystem::copy(test.folder / "test_data_set_0", second);
  EXPECT_EQ(run(test).verdict, Verdict::kPass);
  write_bytes(second / "output_0.pb",
              compiler::test::tensor("", {3}, {1, 2, 9}).SerializeAsString());
  expect_fail(run(test), "element 2 is 3, expected 9");
}

TEST_F(RunCases, WhatTheCompilerRefusesIsUnsupported) {
  const Outcome outcome = run(folder_.add("node/none", "NotThere", {1, 2, 3}));
  EXPECT_EQ(outcome.verdict, Verdict::kUnsupported);
  EXPECT_TRUE(outcome.reason.starts_with("1 node is not supported")) << outcome.reason;
}

TEST_F(RunCases, MissingFilesFail) {
  const TestCase test = folder_.add("node/abs", "Abs", {1, 2, 3});
  std::filesystem::remove(CaseFolder::data_path(test, "output_0.pb"));
  expect_fail(run(test), "test_data_set_0 has 0 files output_*.pb, but the model declares 1");
  std::filesystem::remove(CaseFolder::data_path(test, "input_0.pb"));
  expect_fail(run(test),
              "test_data_set_0 has 0 files input_*.pb, but the model declares 1 tensors");
  std::filesystem::remove_all(test.folder / "test_data_set_0");
  expect_fail(run(test), "no test_data_set_*");
  std::filesystem::remove(test.model_path());
  EXPECT_EQ(run(test).verdict, Verdict::kFail);
  std::filesystem::remove_all(test.folder);
  EXPECT_EQ(run(test).verdict, Verdict::kFail);
}

TEST_F(RunCases, TensorsThatAreCutOffFail) {
  const TestCase test = folder_.add("node/abs", "Abs", {1, 2, 3});
  ::onnx::TensorProto tensor = compiler::test::tensor("", {3}, {1, -2, 3});
  tensor.clear_name();  // which comes last, and could be cut off without harm
  const std::string whole = tensor.SerializeAsString();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_bytes(CaseFolder::data_path(test, "input_0.pb"), whole.substr(0, bytes));
    expect_fail(run(test), "input_0.pb: ");
  }
}

TEST_F(RunCases, AModelThatIsCutOffFails) {
  const TestCase test = folder_.add("node/abs", "Abs", {1, 2, 3});
  write_bytes(test.model_path(), "\x08\x07");
  expect_fail(run(test), "ONNX");
}

TEST_F(RunCases, OtherShapesAndTypesFail) {
  const TestCase test = folder_.add("node/abs", "Abs", {1, 2, 3});
  CaseFolder::write_tensor(test, "output_0.pb", {1, 2, 3, 4});
  expect_fail(run(test), "the shape of 'y' is [3], expected [4]");
  CaseFolder::write_tensor(test, "output_0.pb", {1});
  expect_fail(run(test), "the shape of 'y' is [3], expected [1]");
  write_bytes(CaseFolder::data_path(test, "output_0.pb"),
              compiler::test::int_tensor("", {3}, {1, 2, 3}).SerializeAsString());
  expect_fail(run(test), "the type of 'y' is FLOAT32, expected INT64");
}

TEST_F(RunCases, AnInputOfOneElementIsRepeated) {
  const TestCase test = folder_.add("node/abs", "Abs", {2, 2, 2});
  CaseFolder::write_tensor(test, "input_0.pb", {-2});
  EXPECT_EQ(run(test).verdict, Verdict::kPass);
}

TEST_F(RunCases, AProcessThatEndsIsAFailureOfItsCaseOnly) {
  const std::vector<TestCase> cases = {
      {"node/crash", {}}, {"node/exit", {}}, {"node/throw", {}}, {"node/good", {}}};
  for (const uint32_t jobs : {1u, 3u}) {
    const Outcomes outcomes = run(cases, {.jobs = jobs}, [](const TestCase& test) -> Outcome {
      if (test.name == "node/crash") ::raise(SIGKILL);
      if (test.name == "node/exit") ::_exit(0);
      if (test.name == "node/throw") throw std::runtime_error("thrown");
      return {.verdict = Verdict::kPass, .reason = ""};
    });
    expect_fail(outcomes.at("node/crash"), "the signal KILL");
    expect_fail(outcomes.at("node/exit"), "ended without a result");
    expect_fail(outcomes.at("node/throw"), "thrown");
    EXPECT_EQ(outcomes.at("node/good").verdict, Verdict::kPass);
  }
}

TEST_F(RunCases, CasesThatHangAreEnded) {
  const std::vector<TestCase> cases = {{"node/one", {}}, {"node/two", {}}, {"node/three", {}}};
  const Outcomes outcomes = run(cases, {.jobs = 2, .time_limit = std::chrono::milliseconds(100)},
                                [](const TestCase&) -> Outcome {
                                  for (;;) ::pause();
                                });
  for (const auto& [name, outcome] : outcomes)
    expect_fail(outcome, "the time limit of 0.1 s has passed");
}

}  // namespace
}  // namespace millrace::test
