#include "base/settings/variables.h"
#include "source_dir.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace millrace {
namespace {

using testing::Contains;
using testing::Not;

class Variables : public testing::Test {
 protected:
  ~Variables() override {
    for (const char* name : {"MILLRACE_WATCHDOGG", "MILLRACE_WATCHDOG", "MILLRACE_EMPTY"})
      ::unsetenv(name);
  }
};

TEST_F(Variables, AreUnknownWhereNothingReadsThem) {
  ::setenv("MILLRACE_WATCHDOGG", "1s", 1);
  ::setenv("MILLRACE_WATCHDOG", "1s", 1);
  ::setenv("MILLRACE_EMPTY", "", 1);
  const std::vector<std::string> unknown = unknown_variables();
  EXPECT_THAT(unknown, Contains("MILLRACE_WATCHDOGG"));
  EXPECT_THAT(unknown, Not(Contains("MILLRACE_WATCHDOG")));
  EXPECT_THAT(unknown, Not(Contains("MILLRACE_EMPTY")));
}

TEST_F(Variables, ThatAreUnknownAreWarnedOfOnce) {
  ::setenv("MILLRACE_WATCHDOGG", "1s", 1);
  EXPECT_THAT(warning_of_unknown_variables(), testing::HasSubstr("MILLRACE_WATCHDOGG"));
  EXPECT_EQ(warning_of_unknown_variables(), "");
}

// The names in string literals of the sources, but for those in the list itself.
std::set<std::string> names_in_sources() {
  std::set<std::string> names;
  const std::regex literal("\"(MILLRACE_[A-Z0-9_]*[A-Z0-9])\"");
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(MILLRACE_SOURCE_DIR "/src")) {
    const std::filesystem::path& path = entry.path();
    if (path.filename() == "variables.cpp" ||
        (path.extension() != ".cpp" && path.extension() != ".h"))
      continue;
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator found(text.begin(), text.end(), literal), end; found != end; ++found)
      names.insert((*found)[1]);
  }
  return names;
}

TEST_F(Variables, OfTheSourcesAreAllKnown) {
  const std::set<std::string> read = names_in_sources();
  ASSERT_TRUE(read.contains("MILLRACE_WATCHDOG"));
  std::set<std::string> known(known_variables().begin(), known_variables().end());
  for (const char* elsewhere :
       {"MILLRACE_FAILING", "MILLRACE_FAILING_STACK", "MILLRACE_ONNX_TESTS", "MILLRACE_PEERS",
        "MILLRACE_PROGRAM", "MILLRACE_TEST_ATTACK", "MILLRACE_TEST_MODELS",
        "MILLRACE_TEST_RANK_FAILURES", "MILLRACE_TEST_STRANGERS"})
    EXPECT_EQ(known.erase(elsewhere), 1u) << elsewhere;
  EXPECT_EQ(read, known);
}

}  // namespace
}  // namespace millrace
