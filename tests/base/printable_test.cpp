#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::test {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "scores", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "a\\x1bb"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_TRUE(is_printable(text)) << text;
  }
}

TEST(Printable, EscapesWhatControlsATerminal) {
  const struct {
    std::string text, escaped;
  } cases[] = {{"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
               {"a\nb\rc\td", "a\\x0ab\\x0dc\\x09d"},
               {std::string("a\0b", 3), "a\\x00b"},
               {"\x7f", "\\x7f"},
               {"\xc2\x9b"
                "31m",
                "\\u009b31m"},
               {"\xe2\x80\xae"
                "nib.a",
                "\\u202enib.a"},
               {"\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069"},
               {"\xe2\x80\xa8", "\\u2028"},
               {"\x9b\xff\xc3", "\\x9b\\xff\\xc3"},
               {"\xed\xa0\x80", "\\xed\\xa0\\x80"}};
  for (const auto& [text, escaped] : cases) {
    EXPECT_EQ(printable(text), escaped);
    EXPECT_EQ(printable(printable(text)), escaped);
    EXPECT_FALSE(is_printable(text)) << escaped;
    EXPECT_TRUE(is_printable(escaped)) << escaped;
  }
}

TEST(Printable, LineFeedsMayBeKept) {
  EXPECT_EQ(printable_lines("a\r\n\x1b[2Jb\n"), "a\\x0d\n\\x1b[2Jb\n");
}

}  // namespace
}  // namespace millrace::test
