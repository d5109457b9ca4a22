#include "base/shell_word.h"

#include <gtest/gtest.h>

#include "tests/support/subprocess.h"

namespace millrace {
namespace {

constexpr const char* kWords[] = {
    "plain/path:of=things,1.2",         "",     " two words ", "it's", "'; touch gone; '",
    "$(touch gone)`touch gone`${HOME}", "a\nb", "*?[a]~!",     "\\",   "\"\xc3\xa4\""};

TEST(ShellWord, IsReadByAShellAsItIs) {
  for (const std::string word : kWords)
    for (const std::string& quoted : {shell_word(word), shell_quoted(word)})
      EXPECT_EQ(test::run_program({"/bin/sh", "-c", "printf %s " + quoted}, "/tmp").out, word)
          << quoted;
}

TEST(ShellWord, HasQuotesWhereItNeedsThem) {
  EXPECT_EQ(shell_word("x=1,3,224,224"), "x=1,3,224,224");
  EXPECT_EQ(shell_quoted("x"), "'x'");
}

}  // namespace
}  // namespace millrace
