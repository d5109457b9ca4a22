// The manners of the command line: where options may stand, what is said about wrong ones, and
// help.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kCommands = {
    "compile", "inspect", "run",      "bench",       "shard",  "compare", "evaluate", "explain",
    "tune",    "golden",  "trace",    "conformance", "serve",  "doctor",  "env",      "help",
    "faults",  "pace",    "simulate", "check",       "replay", "top"};

class CommandLineTest : public CliTest {
 protected:
  ~CommandLineTest() override {
    for (const char* name : {"COLUMNS", "MILLRACE_FAULT"}) ::unsetenv(name);
  }
};

// Each option takes one argument, so that the model may follow any of them.
TEST_F(CommandLineTest, NoOptionTakesTheModelThatFollowsIt) {
  const std::string none = file("none.onnx");
  const std::vector<std::vector<std::string>> lines = {
      {"compile", "-o", "a.rai", "--calibrate", "photos", "--precision", "int8", "--mean", "1,2,3",
       none},
      {"compile", "-o", "a.rai", "--cpu-ops", "Conv,Gemm", none},
      {"compile", "-o", "a.rai", "--input-shape", "x=1,3", none},
      {"run", "--shape", "x=1,3", "--scale", "1,2,3", "--input", "a.npy", none},
      {"evaluate", "--data", "photos", "--labels", "labels.csv", none},
      {"evaluate", "--against", none, "--data", "photos", none},
      {"bench", "--json", none}};
  for (const std::vector<std::string>& line : lines) expect_failure(millrace(line), "none.onnx");
}

TEST_F(CommandLineTest, ListsHaveCommasOrRepeatTheOption) {
  const std::vector<std::string> compile = {"compile", kGlyphsOnnx, "-o", file("a.rai")};
  std::vector<std::string> with_commas = compile, repeated = compile;
  with_commas.insert(with_commas.end(), {"--cpu-ops", "Conv,GlobalPool"});
  repeated.insert(repeated.end(), {"--cpu-ops", "Conv", "--cpu-ops", "GlobalPool"});
  EXPECT_EQ(millrace(with_commas).out, millrace(repeated).out);
}

TEST_F(CommandLineTest, AnUnknownOptionIsNamedWithTheNearest) {
  expect_wrong_command_line(millrace({"compile", kGlyphsOnnx, "--calibration", "photos"}),
                            "millrace compile has no option --calibration; did you mean "
                            "--calibrate? (see millrace compile --help)");
  expect_wrong_command_line(millrace({"bench", "a.rai", "--labels", "a.txt"}),
                            "it is one of millrace run, millrace evaluate");
  expect_wrong_command_line(millrace({"--batch", "4", "compile"}),
                            "millrace has no option --batch");
}

TEST_F(CommandLineTest, AnUnknownCommandIsNamedWithTheNearest) {
  expect_wrong_command_line(millrace({"inspct", "a.rai"}),
                            "there is no command \"inspct\"; did you mean inspect?");
}

TEST_F(CommandLineTest, AWrongValueIsNamedWithWhatTheOptionTakes) {
  expect_wrong_command_line(millrace({"inspect", "a.onnx", "--precision", "fp61"}),
                            "\"fp61\" is none of fp32, bf16, fp16, int8, auto; did you mean fp16?");
  expect_wrong_command_line(millrace({"bench", "a.rai", "-n", "many"}), "1000, 1e3 or 1k");
  expect_wrong_command_line(millrace({"bench", "a.rai", "--in-flight", "2000"}),
                            "2000 is not in the range 0 to 1024");
  expect_wrong_command_line(millrace({"inspect", "a.rai", "b.rai"}),
                            "unexpected argument \"b.rai\"");
  expect_wrong_command_line(millrace({"compile", "a.onnx", "-o"}), "--output needs a value");
  expect_wrong_command_line(
      millrace({"evaluate", "a.rai", "--data", "a.jpg", "b.jpg"}),
      "unexpected argument \"b.jpg\"; each value of --data has a --data of its own");
}

TEST_F(CommandLineTest, AMisspeltVariableIsNamedOnceWithTheNearest) {
  ::setenv("MILLRACE_FAULT", "fail=1", 1);
  const ProgramResult result = millrace({"inspect", kGlyphsOnnx});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err,
            "millrace: note: MILLRACE_FAULT is set, but nothing reads it; did you mean "
            "MILLRACE_FAULTS?\n");
  EXPECT_EQ(millrace({"--version"}).err, "");
}

TEST_F(CommandLineTest, CountsAndTimesAreReadAlike) {
  for (const char* ten : {"10", "1e1", "0.01k"})
    EXPECT_EQ(millrace({"bench", kGlyphsOnnx, "-n", ten, "--device", "null"}).exit_code, 0) << ten;
  for (const char* time : {"0.05", "50ms", "0.05s"})
    EXPECT_EQ(millrace({"bench", kGlyphsOnnx, "--scenario", "offline", "--duration", time,
                        "--time-limit", "60"})
                  .exit_code,
              0)
        << time;
}

TEST_F(CommandLineTest, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(millrace({"help"}).out, millrace({"--help"}).out);
  EXPECT_EQ(millrace({"help", "run"}).out, millrace({"run", "--help"}).out);
  EXPECT_EQ(millrace({"version"}).out, millrace({"--version"}).out);
  expect_wrong_command_line(millrace({"help", "runn"}), "did you mean run?");
}

TEST_F(CommandLineTest, HelpFitsTheTerminalAndEndsWithExamplesAndExitCodes) {
  for (const char* columns : {"", "60"}) {
    if (*columns != 0) ::setenv("COLUMNS", columns, 1);
    for (const std::string& command : kCommands) {
      const ProgramResult result = millrace({command, "--help"});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_THAT(result.out,
                  AllOf(HasSubstr("Usage: millrace " + command), Not(HasSubstr("\x1b"))))
          << command;
      if (command != "help") {
        EXPECT_THAT(result.out, AllOf(HasSubstr("Example"), HasSubstr("Exit codes: 0 ")));
      }
      std::istringstream lines(result.out);
      for (std::string line; std::getline(lines, line);) {
        // Examples are shown as they are.
        if (!line.starts_with("  millrace") && !line.starts_with("      --")) {
          EXPECT_LE(line.size(), *columns != 0 ? 60u : 80u) << line;
        }
      }
    }
  }
}

TEST_F(CommandLineTest, PagesAndCompletionComeFromTheSameOptions) {
  ASSERT_EQ(millrace({"pages", file("pages")}).exit_code, 0);
  const auto text_of = [&](const std::string& name) {
    std::ifstream stream(file("pages/" + name));
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_THAT(text_of("man1/millrace.1"), HasSubstr(".B evaluate\n"));
  EXPECT_THAT(text_of("man1/millrace-run.1"),
              AllOf(StartsWith(".TH MILLRACE\\-RUN 1 "), HasSubstr("\\-\\-output\\-dir DIR")));
  EXPECT_THAT(text_of("bash/millrace"), HasSubstr("fp32 bf16 fp16 int8 auto"));
  EXPECT_THAT(text_of("zsh/_millrace"), HasSubstr("#compdef millrace"));
  EXPECT_THAT(text_of("fish/millrace.fish"), HasSubstr("-l precision"));
  EXPECT_THAT(millrace({"--help"}).out, Not(HasSubstr("pages")));
}

// The work of these would take long, or print.
TEST_F(CommandLineTest, OutputsThatCannotBeWrittenAreRefusedBeforeTheWork) {
  const std::string missing = file("none/a.svg");
  const std::vector<std::vector<std::string>> lines = {
      {"bench", kGlyphsOnnx, "--scenario", "offline", "-n", "100M", "--plot", missing},
      {"bench", kGlyphsOnnx, "-n", "100M", "--json=" + missing},
      {"compile", kGlyphsOnnx, "-o", missing},
      {"compile", kGlyphsOnnx, "-o", file("a.rai"), "--emit-qdq", missing},
      {"tune", kGlyphsOnnx, "-o", missing}};
  for (const std::vector<std::string>& line : lines) {
    const ProgramResult result = millrace(line);
    expect_failure(result, file("none"));
    EXPECT_EQ(result.out, "");
  }
  std::ofstream(file("taken")) << "a file";
  expect_failure(
      millrace({"run", kGlyphsOnnx, "--input", "a.npy", "--output-dir", file("taken/out")}),
      "taken is a regular file, and no directory");
  expect_failure(millrace({"tune", kGlyphsOnnx, "-o", "-"}), "/dev/stdout");
}

}  // namespace
}  // namespace millrace::test
