// The help of a command and its manual page.
#include <gmock/gmock.h>

#include <sstream>

#include "cli/help/help_text.h"
#include "cli/help/man_page.h"

namespace millrace::test {
namespace {

using cli::CommandPage;
using cli::OptionPage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

OptionPage option(std::vector<std::string> names, std::string value, std::string description) {
  OptionPage page;
  page.names = std::move(names);
  page.value = std::move(value);
  page.description = std::move(description);
  return page;
}

CommandPage run_page() {
  CommandPage page;
  page.name = "run";
  page.description = "Run a model on files";
  page.positionals = {option({"model"}, "FILE", "a model")};
  page.positionals[0].required = true;
  page.options = {option({"-i", "--input"}, "NAME=FILE", "a file"),
                  option({"--precision"}, "fp32|bf16",
                         "a description that is so long that it takes more than one line of the "
                         "width that there is")};
  page.options[0].required = true;
  page.options[1].default_value = "fp32";
  page.footer = "Example:\n  millrace run a.rai -i b.npy\n\nExit codes: 0 success, 1 failure.";
  return page;
}

TEST(Help, SaysWhatACommandTakes) {
  const std::string text = help_text(run_page(), "millrace", {.width = 60});
  EXPECT_THAT(text, AllOf(HasSubstr("Usage: millrace run [OPTIONS] --input NAME=FILE MODEL\n"),
                          HasSubstr("  -i, --input NAME=FILE   a file (required)\n"),
                          HasSubstr("fp32)\n"), HasSubstr("\n  millrace run a.rai -i b.npy\n"),
                          HasSubstr("Exit codes: 0 success, 1 failure.\n")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
}

TEST(Help, IsColouredIfItIsAskedTo) {
  EXPECT_THAT(help_text(run_page(), "millrace", {.coloured = true}), HasSubstr("\x1b[1mOptions"));
}

TEST(Help, AManualPageEscapesWhatRoffInterprets) {
  CommandPage page = run_page();
  page.footer = ".hidden\n  a\\b";
  const std::string text = man_page(page, "millrace", "1.2");
  EXPECT_THAT(text, AllOf(HasSubstr(".TH MILLRACE\\-RUN 1 \"\" \"millrace 1.2\" \"\"\n"),
                          HasSubstr("millrace\\-run \\- Run a model on files"),
                          HasSubstr(".B \\-i, \\-\\-input NAME=FILE\n"),
                          HasSubstr("\n\\&.hidden\n"), HasSubstr("a\\eb\n")));
}

}  // namespace
}  // namespace millrace::test
