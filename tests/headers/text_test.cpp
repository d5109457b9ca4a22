// Headers define nothing besides the names of their API: no macro without the prefix, nothing at
// global scope, no inline namespace.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

constexpr const char* kOurs = MILLRACE_SOURCE_DIR "/include/vart/";

// The lines that our headers contribute to a program which includes all of them, preprocessed.
// Macro definitions are kept, as the lines they were.
std::vector<std::string> our_lines(const Compiler& compiler) {
  const TemporaryDirectory directory;
  const std::string source = directory.file("all.cpp");
  {
    std::ofstream file(source);
    for (const std::string& header : header_names()) file << "#include <vart/" << header << ">\n";
  }
  const ProgramResult result = run_program(
      {compiler.path, "-std=c++17", "-E", "-dD", "-I" MILLRACE_SOURCE_DIR "/include", source}, "/");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::istringstream text(result.out);
  std::vector<std::string> ours;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("# "))  // a line marker: # number "file" flags
      inside = line.find(kOurs) != std::string::npos;
    else if (inside)
      ours.push_back(line);
  }
  return ours;
}

class Text : public ::testing::TestWithParam<Compiler> {
 protected:
  void SetUp() override {
    if (!GetParam().found()) GTEST_SKIP() << "there is no " << GetParam().name << " here";
    lines_ = our_lines(GetParam());
    ASSERT_GT(lines_.size(), 500u);
  }
  std::vector<std::string> lines_;
};

TEST_P(Text, EveryMacroHasThePrefix) {
  size_t macros = 0;
  for (const std::string& line : lines_) {
    if (!line.starts_with("#define ")) continue;
    ++macros;
    EXPECT_TRUE(line.starts_with("#define VART_")) << line;
  }
  EXPECT_GT(macros, header_names().size()) << "the guards and VART_VIDEO_MAX_PLANES";
}

TEST_P(Text, NothingIsGlobal) {
  std::string global;
  int depth = 0;
  for (const std::string& line : lines_) {
    if (line.starts_with("#")) continue;
    EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("inline namespace")));
    for (const char c : line) {
      if (c == '}') --depth;
      if (depth == 0 && c != '}' && c != '{') global += c;
      if (c == '{') ++depth;
    }
  }
  EXPECT_EQ(depth, 0);
  std::istringstream words(global);
  for (std::string word, name; words >> word >> name;) {
    EXPECT_EQ(word, "namespace") << name;
    EXPECT_TRUE(name == "vart" || name == "xrt") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Headers, Text, ::testing::ValuesIn(compilers()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::test
