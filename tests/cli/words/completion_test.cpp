// The completion of shells, as far as the shells are there.
#include "cli/help/completion.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using cli::CommandPage;
using cli::OptionPage;
using ::testing::AllOf;
using ::testing::HasSubstr;

CommandPage program() {
  OptionPage precision;
  precision.names = {"--precision"};
  precision.value = "fp32|bf16";
  precision.description = "the model's [own] precision: one of these";
  OptionPage json;
  json.names = {"-j", "--json"};
  json.description = "machine-readable output";
  OptionPage device;
  device.names = {"--device"};
  device.value = "DEVICE";
  device.suggestions = {"cpu", "null"};
  OptionPage topic;
  topic.names = {"command"};
  topic.value = "COMMAND";
  topic.suggestions = {"compile", "help"};
  CommandPage help;
  help.name = "help";
  help.positionals = {topic};
  CommandPage compile;
  compile.name = "compile";
  compile.description = "Compile a model";
  compile.options = {precision, json, device};
  CommandPage all;
  all.name = "millrace";
  all.commands = {compile, help};
  return all;
}

class Completion : public testing::Test {
 protected:
  // Returns what bash offers for these words, of which the last is incomplete.
  std::string offered(const std::string& words, int index) const {
    std::ofstream(directory_.file("script")) << cli::bash_completion(program());
    const std::string script = ". ./script; COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(index) +
                               "; _millrace; echo \"${COMPREPLY[*]}\"";
    const ProgramResult result =
        run_program({"/bin/bash", "-c", script}, directory_.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  TemporaryDirectory directory_;
};

TEST_F(Completion, BashOffersCommandsOptionsAndChoices) {
  EXPECT_EQ(offered("millrace comp", 1), "compile\n");
  EXPECT_EQ(offered("millrace compile --pre", 2), "--precision\n");
  EXPECT_EQ(offered("millrace compile --precision b", 3), "bf16\n");
  EXPECT_EQ(offered("millrace compile --precision = b", 4), "bf16\n");
}

TEST_F(Completion, BashOffersDevicesAndTopicsOfHelp) {
  EXPECT_EQ(offered("millrace compile --device ''", 3), "cpu null\n");
  EXPECT_EQ(offered("millrace help ''", 2), "compile help\n");
  EXPECT_EQ(offered("millrace help comp", 2), "compile\n");
}

TEST_F(Completion, BashOffersFilesElsewhere) {
  std::ofstream(directory_.file("model.onnx")) << "x";
  EXPECT_EQ(offered("millrace compile mod", 2), "model.onnx\n");
}

TEST_F(Completion, ZshAndFishHaveTheSameWords) {
  EXPECT_THAT(cli::zsh_completion(program()),
              AllOf(HasSubstr("#compdef millrace\n"), HasSubstr("'compile:Compile a model'"),
                    HasSubstr("--precision[the model'\\''s \\[own\\] precision\\: one of these]:"
                              "value:(fp32 bf16)'"),
                    HasSubstr(":value:(cpu null)'"), HasSubstr("'*:argument:(compile help)'"),
                    HasSubstr("'*:file:_files'")));
  EXPECT_THAT(
      cli::fish_completion(program()),
      AllOf(HasSubstr("-a compile -d 'Compile a model'\n"),
            HasSubstr("-l precision -x -a 'fp32 bf16'"), HasSubstr("-s j -l json -d "),
            HasSubstr("-l device -x -a 'cpu null'"), HasSubstr("_from help' -a 'compile help'\n")));
}

}  // namespace
}  // namespace millrace::test
