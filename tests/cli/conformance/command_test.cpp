// millrace conformance, as a user calls it.
#include <gmock/gmock.h>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/conformance/case_folder.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Conformance : public CliTest {
 protected:
  ProgramResult run(std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"conformance", "--onnx-tests", cases_.path()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return millrace(arguments);
  }

  std::string text_of(const std::string& name) const {
    const auto bytes = io::read_file(file(name));
    EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
    if (!bytes.ok()) return {};
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  CaseFolder cases_;
};

TEST_F(Conformance, PrintsEveryCaseInOrderAndTheTotals) {
  cases_.add("node/test_abs", "Abs", {1, 2, 3});
  cases_.add("node/test_none", "NotThere", {1, 2, 3});
  cases_.add("simple/test_neg", "Neg", {-1, 2, -3});
  const ProgramResult result = run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(
      result.out,
      "pass         node/test_abs  0 ULP, 0 absolute\n"
      "unsupported  node/test_none  1 node is not supported: NotThere (domain ai.onnx, opset "
      "13), 1 node: 'y_node'\n"
      "pass         simple/test_neg  0 ULP, 0 absolute\n"
      "\n"
      "node: found 2, excluded 0; passed 1 of 2 counted (50.0 %), failed 0, unsupported 1\n"
      "simple: found 1, excluded 0; passed 1 of 1 counted (100.0 %), failed 0, unsupported 0\n"
      "all: found 3, excluded 0; passed 2 of 3 counted (66.7 %), failed 0, unsupported 1\n");
}

TEST_F(Conformance, AFailureIsAnExitCodeAndALine) {
  cases_.add("node/test_abs", "Abs", {1, 2, 3});
  cases_.add("node/test_neg", "Neg", {1, 2, 3});
  const ProgramResult result = run({"--jobs", "2", "--junit", "j.xml", "--table", "t.md"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr("fail         node/test_neg  output 'y': "));
  EXPECT_THAT(text_of("j.xml"), HasSubstr("<failure message=\"fail: output"));
  EXPECT_THAT(text_of("t.md"), HasSubstr("| Neg | 13 | 1 | 0 | 1 | 0 |"));
  EXPECT_THAT(text_of("t.md"), HasSubstr("| Abs | 13 | 1 | 1 | 0 | 0 |"));
}

TEST_F(Conformance, LeavesOutWhatTheListNames) {
  cases_.add("node/test_abs", "Abs", {1, 2, 3});
  cases_.add("node/test_neg", "Neg", {1, 2, 3});
  write_bytes(file("list.txt"), "node/test_neg  its data are wrong\n");
  const ProgramResult result = run({"--exclude", "list.txt"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("excluded     node/test_neg  its data are wrong\n"));
  EXPECT_THAT(result.out, HasSubstr("all: found 2, excluded 1; passed 1 of 1 counted (100.0 %)"));
}

TEST_F(Conformance, RunsOnlyWhatTheFilterFits) {
  cases_.add("node/test_abs", "Abs", {1, 2, 3});
  cases_.add("node/test_neg", "Neg", {1, 2, 3});
  for (const char* filter : {"node/test_a*", "*_abs"}) {
    const ProgramResult result = run({"--filter", filter});
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_THAT(result.out, Not(HasSubstr("test_neg")));
  }
}

TEST_F(Conformance, SaysWhyItCannotRun) {
  cases_.add("node/test_abs", "Abs", {1, 2, 3});
  const auto expect_refusal = [](const ProgramResult& result, const std::string& culprit) {
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr(culprit));
  };
  expect_refusal(millrace({"conformance", "--onnx-tests", file("none")}), "has no cases");
  expect_refusal(run({"--filter", "none"}), "--filter none matches no case");
  expect_refusal(run({"--exclude", "none.txt"}), "none.txt");
  expect_wrong_command_line(run({"--time-limit", "soon"}), "--time-limit: \"soon\"");
  expect_refusal(run({"--junit", "none/j.xml"}), "none/j.xml");
}

}  // namespace
}  // namespace millrace::test
