// docs/vart.md lists what there is: methods, options and environment variables.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "source_dir.h"
#include "tests/support/page_text.h"

namespace millrace::test {
namespace {

using Names = std::multiset<std::string>;

const std::string kSource = MILLRACE_SOURCE_DIR;

// The text from the first `begin` to the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  if (from == std::string::npos) return {};
  return text.substr(from, text.find(end, from + begin.size()) - from);
}

std::string section(const std::string& title) {
  return between(content(kSource + "/docs/vart.md"), "\n## " + title + "\n", "\n## ");
}

// Overloads count: a name comes as often as there are functions of it.
TEST(VartPage, ListsEveryMethodOfARunner) {
  const std::string header = content(kSource + "/include/vart/vart_runner_factory.hpp");
  const Names declared =
      all_of<Names>(between(header, " Runner {", "\n};"), R"(virtual [^;(~]*\b(\w+)\([^;]*;)");
  EXPECT_GT(declared.size(), 10u);
  EXPECT_EQ(all_of<Names>(section("Runner"), R"(\n\| `(\w+)\()"), declared);
}

TEST(VartPage, ListsEveryOption) {
  const std::string source = content(kSource + "/src/vart/files/options.cpp");
  const std::string table = between(source, "kKnownOptions = {", "\n};");
  Names known;
  for (std::string key : all_of<Names>(table, R"((?:KnownOption\{|>\()\s*("\w+"|k\w+))")) {
    if (key.front() == 'k')
      key = *all_of<Names>(source, ("\\b" + key + R"( = ("\w+"))").c_str()).begin();
    known.insert(key.substr(1, key.size() - 2));
  }
  EXPECT_GT(known.size(), 10u);
  EXPECT_EQ(all_of<Names>(section("Options"), R"(\n\| `(\w+)`)"), known);
}

// The variables of the NRT face are on its own page.
TEST(VartPage, ListsEveryEnvironmentVariable) {
  const Names listed = all_of<Names>(section("Environment"), R"(\n\| `(\w+)`)");
  size_t found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kSource + "/src")) {
    if (file.path().extension() != ".cpp") continue;
    // This file has the lists of all names, and of those that programs with raised rights ignore.
    if (file.path().filename() == "variables.cpp") continue;
    if (file.path().filename() == "guarded_variables.cpp") continue;
    for (const std::string& name :
         all_of<Names>(content(file.path()), R"re("(MILLRACE_[A-Z0-9_]+))re")) {
      if (name.starts_with("MILLRACE_NRT_") || name.starts_with("MILLRACE_COLLECTIVE_")) continue;
      ++found;
      EXPECT_TRUE(listed.count(name) == 1) << name << " in " << file.path();
    }
  }
  EXPECT_GT(found, 3u);
}

}  // namespace
}  // namespace millrace::test
