// docs/microsoft-operators.md lists all operators of com.microsoft that the compiler takes.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <string_view>

#include "fallback/operator_table.h"
#include "lowering/operators/operator_table.h"
#include "source_dir.h"
#include "tests/support/page_text.h"

namespace millrace::compiler {
namespace {

using Names = std::set<std::string>;

Names names_in_tables() {
  std::string cells;
  const std::string page =
      millrace::test::content(MILLRACE_SOURCE_DIR "/docs/microsoft-operators.md");
  for (const std::string& cell : millrace::test::all_of<Names>(page, R"(\n\| ([^|]*) \|)"))
    cells += cell;
  return millrace::test::all_of<Names>(cells, R"(`(\w+)`)");
}

Names names_in_code() {
  constexpr std::string_view kPrefix = "com.microsoft.";
  Names names;
  for (const lowering::OperatorEntry& entry : lowering::operator_table())
    if (entry.domain == "com.microsoft") names.emplace(entry.type);
  for (const auto family : fallback::operator_families())
    for (const fallback::OperatorSpec& spec : family)
      if (std::string_view(spec.name).starts_with(kPrefix))
        names.emplace(std::string_view(spec.name).substr(kPrefix.size()));
  return names;
}

TEST(MicrosoftPage, ListsEveryOperator) {
  EXPECT_EQ(names_in_tables(), names_in_code());
}

}  // namespace
}  // namespace millrace::compiler
