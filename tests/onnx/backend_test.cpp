// The ONNX backend tests, as Debian's package libonnx-testdata has them: none may fail, and none
// that passed may stop to. scripts/conformance.sh writes anew what is compared with here.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "io/file.h"
#include "source_dir.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

const std::string kFolder = MILLRACE_SOURCE_DIR "/tests/onnx/";

// The folder of cases, empty where there is none.
std::string case_folder() {
  const char* const chosen = std::getenv("MILLRACE_ONNX_TESTS");
  const std::string folder = chosen != nullptr ? chosen : "/usr/share/libonnx-testdata/data";
  return std::filesystem::is_directory(folder + "/node") ? folder : "";
}

std::vector<std::string> lines_of(const std::string& path) {
  const auto lines = io::read_lines(path);
  EXPECT_TRUE(lines.ok()) << lines.status().to_string();
  return lines.ok() ? *lines : std::vector<std::string>();
}

// The first words of the lines that are no comments.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(path))
    if (!line.empty() && !line.starts_with('#')) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

// Whether the cases are those of version 1.12, for which the lists are complete. Mish is later.
bool are_listed(const std::string& folder) {
  return !std::filesystem::is_directory(folder + "/node/test_mish");
}

// The number of cases that docs/operators.md says pass: "| all | found | excluded | counted |
// passed".
size_t passed_by_the_page() {
  for (const std::string& line : lines_of(MILLRACE_SOURCE_DIR "/docs/operators.md")) {
    std::istringstream words(line);
    std::string bar, name;
    size_t found = 0, excluded = 0, counted = 0, passed = 0;
    words >> bar >> name >> bar >> found >> bar >> excluded >> bar >> counted >> bar >> passed;
    if (name == "all" && words) return passed;
  }
  ADD_FAILURE() << "docs/operators.md has no totals";
  return 0;
}

// The lines that say what became of the cases, by their names.
std::map<std::string, std::string> verdicts_in(const std::string& output) {
  std::map<std::string, std::string> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line) && !line.empty();) {
    std::istringstream words(line);
    std::string verdict, name;
    words >> verdict >> name;
    lines[name] = line;
  }
  return lines;
}

TEST(OnnxBackend, NothingFailsAndWhatPassedStillDoes) {
  const std::string folder = case_folder();
  if (folder.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const TemporaryDirectory directory;
  const ProgramResult result = run_program({MILLRACE_PROGRAM, "conformance", "--onnx-tests", folder,
                                            "--exclude", kFolder + "excluded.txt"},
                                           directory.path().string());
  const bool is_listed = are_listed(folder);
  const std::vector<std::string> disputed =
      is_listed ? std::vector<std::string>() : names_in(kFolder + "disputed.txt");
  const auto is_disputed = [&](const std::string& name) {
    return std::ranges::find(disputed, name) != disputed.end();
  };
  auto lines = verdicts_in(result.out);
  size_t passed = 0, failed = 0;
  for (const auto& [name, line] : lines) {
    const bool fails = line.starts_with("fail ");
    EXPECT_TRUE(!fails || is_disputed(name)) << line;
    failed += fails;
    passed += line.starts_with("pass ");
  }
  EXPECT_EQ(result.exit_code, failed == 0 ? 0 : 1) << result.err;
  for (const std::string& name : names_in(kFolder + "passing.txt")) {
    const bool is_unknown = !lines.contains(name) && !is_listed;
    if (is_unknown || (lines[name].starts_with("fail ") && is_disputed(name))) continue;
    EXPECT_TRUE(lines[name].starts_with("pass ")) << name << " must pass; now: " << lines[name];
  }
  EXPECT_GE(passed, passed_by_the_page());
}

// Operators that those tests do not have; what they must give is what ONNX Runtime does
// (cases/write_cases.py).
TEST(OnnxBackend, CasesOfOurOwnPass) {
  const TemporaryDirectory directory;
  const ProgramResult result =
      run_program({MILLRACE_PROGRAM, "conformance", "--onnx-tests", kFolder + "cases"},
                  directory.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto verdicts = verdicts_in(result.out);
  for (const auto& folder : std::filesystem::directory_iterator(kFolder + "cases/node")) {
    const std::string name = "node/" + folder.path().filename().string();
    ASSERT_TRUE(verdicts.contains(name)) << name;
    EXPECT_TRUE(verdicts.at(name).starts_with("pass ")) << verdicts.at(name);
  }
}

// More would hide what the operators cannot do.
TEST(OnnxBackend, FewCasesAreExcludedAndAllExist) {
  const std::vector<std::string> names = names_in(kFolder + "excluded.txt");
  EXPECT_LE(std::ranges::count_if(names, [](const auto& n) { return n.starts_with("node/"); }), 65);
  const std::string folder = case_folder();
  if (folder.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  if (!are_listed(folder)) GTEST_SKIP() << "later versions have other cases";
  for (const std::string& name : names)
    EXPECT_TRUE(std::filesystem::is_directory(folder + "/" + name)) << name;
}

}  // namespace
}  // namespace millrace::test
