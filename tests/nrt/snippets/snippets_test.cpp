// Programs as users of the NRT face write them, of both generations, in C and in C++, run to their
// end.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

const std::string kPrefix = "nrt_snippet_";

std::vector<std::string> snippets() {
  std::istringstream list(MILLRACE_SNIPPETS);
  std::vector<std::string> names;
  for (std::string name; std::getline(list, name, ',');)
    names.push_back(name.substr(kPrefix.size()));
  return names;
}

void write_numbers(const std::string& path, const std::vector<float>& numbers) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(float)));
}

class NrtSnippets : public ::testing::TestWithParam<std::string> {
 protected:
  // The model, an input for it, and what comes of that.
  void SetUp() override {
    // ThreadSanitizer's dlopen does not look where the program's run path says.
    setenv("LD_LIBRARY_PATH", MILLRACE_SNIPPETS_DIR "/../../lib", 1);
    const std::vector<float> x =
        tiny_numbers(size_t{kTinyInputChannels} * kTinySide * kTinySide, 3);
    ASSERT_TRUE(write_tiny_model(model_).ok());
    write_numbers(input_, x);
    write_numbers(expected_, tiny_reference(x));
  }

  TemporaryDirectory directory_;
  const std::string model_ = directory_.file("tiny.rai");
  const std::string input_ = directory_.file("input");
  const std::string expected_ = directory_.file("expected");
};

TEST_P(NrtSnippets, Runs) {
  const ProgramResult result =
      run_program({MILLRACE_SNIPPETS_DIR "/" + kPrefix + GetParam(), model_, input_, expected_},
                  directory_.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

INSTANTIATE_TEST_SUITE_P(Programs, NrtSnippets, ::testing::ValuesIn(snippets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace millrace::test
