// docs/nrt.md lists all calls and environment variables that exist.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include "source_dir.h"
#include "tests/support/page_text.h"
#include "tests/support/subprocess.h"

namespace millrace::test {
namespace {

using Names = std::set<std::string>;

const std::string kSource = MILLRACE_SOURCE_DIR;

// The names in the first cells of the tables in a section of the page.
Names listed(const std::string& title) {
  const std::string page = content(kSource + "/docs/nrt.md");
  const size_t from = page.find("\n## " + title + "\n");
  EXPECT_NE(from, std::string::npos) << title;
  const std::string section = page.substr(from, page.find("\n## ", from + 1) - from);
  std::string cells;
  for (const std::string& cell : all_of<Names>(section, R"(\n\| ([^|]*) \|)")) cells += cell;
  return all_of<Names>(cells, R"(`(\w+)`)");
}

// Programs reach the calls of MILLRACE_1.0 through the headers only, by other names.
TEST(NrtPage, ListsEveryCallOfTheLibrary) {
  const ProgramResult symbols =
      run_program({MILLRACE_NM, "-D", "--defined-only", MILLRACE_NRT}, "/");
  ASSERT_EQ(symbols.exit_code, 0) << symbols.err;
  Names exported = all_of<Names>(symbols.out, R"( T (nrta?_\w+)@@?NRT_)");
  exported.merge(all_of<Names>(symbols.out, R"( T ((?:ndl|nds|nec)_\w+)@@MILLRACE_)"));
  EXPECT_GT(exported.size(), 100u);
  const Names on_page = listed("Calls");
  Names missing, gone;
  std::ranges::set_difference(exported, on_page, std::inserter(missing, missing.end()));
  std::ranges::set_difference(on_page, exported, std::inserter(gone, gone.end()));
  EXPECT_THAT(missing, testing::IsEmpty()) << "in the library, not on the page";
  EXPECT_THAT(gone, testing::IsEmpty()) << "on the page, not in the library";
}

TEST(NrtPage, ListsEveryEnvironmentVariable) {
  const Names variables = listed("Environment");
  Names in_sources;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kSource + "/src/nrt")) {
    if (file.path().extension() != ".cpp") continue;
    for (const std::string& name :
         all_of<Names>(content(file.path()), R"re("((?:MILLRACE|NEURON)_[A-Z0-9_]+))re")) {
      if (name.ends_with('_')) continue;  // a family
      in_sources.insert(name);
      EXPECT_TRUE(variables.contains(name)) << name << " in " << file.path();
    }
  }
  EXPECT_GT(in_sources.size(), 8u);
  for (const std::string& name : variables) {
    // The layers below read variables of Millrace, too.
    if (!name.starts_with("NEURON_")) continue;
    EXPECT_TRUE(in_sources.contains(name)) << name << " is on the page only";
  }
}

}  // namespace
}  // namespace millrace::test
