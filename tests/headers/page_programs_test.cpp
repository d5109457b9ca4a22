// The programs in C++ that pages of the documentation show compile without a warning.
#include <filesystem>
#include <fstream>
#include <string>

#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/support/page_text.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

struct Page {
  const char* name;
  const char* standard;  // of which the page says that its program is
};

// Returns the first block of C++ on the page.
std::string program_of(const std::string& page) {
  const std::string text = content(MILLRACE_SOURCE_DIR "/" + page + ".md");
  const std::string begin = "\n```cpp\n";
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find("\n```\n", from) + 1 - from);
}

class PagePrograms : public ::testing::TestWithParam<Page> {};

TEST_P(PagePrograms, Compile) {
  const Compiler compiler{"gxx", MILLRACE_GXX};
  if (!compiler.found()) GTEST_SKIP() << "there is no g++";
  const std::string program = program_of(GetParam().name);
  ASSERT_NE(program.find("int main("), std::string::npos) << program;
  const TemporaryDirectory directory;
  const std::string file = directory.file("program.cpp");
  std::ofstream(file) << program;
  EXPECT_EQ(complaints(compiler, GetParam().standard, file), "");
}

INSTANTIATE_TEST_SUITE_P(All, PagePrograms,
                         ::testing::Values(Page{"README", "c++17"}, Page{"docs/deadlines", "c++20"},
                                           Page{"docs/onnxruntime", "c++20"}),
                         [](const auto& page) {
                           return std::filesystem::path(page.param.name).filename().string();
                         });

}  // namespace
}  // namespace millrace::test
