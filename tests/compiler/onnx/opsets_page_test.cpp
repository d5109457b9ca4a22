// docs/opsets.md lists the operators that opset 23 and later ones introduced, with these opsets.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <string_view>

#include "fallback/operator_table.h"
#include "lowering/operators/operator_table.h"
#include "source_dir.h"
#include "tests/support/page_text.h"

namespace millrace::compiler {
namespace {

constexpr int kFirstOfPage = 23;

using FirstOpsets = std::map<std::string, int>;  // by operator

// The rows of the first table. Opsets that changed the operator follow the one that introduced it.
FirstOpsets operators_of_page() {
  const std::string page = millrace::test::content(MILLRACE_SOURCE_DIR "/docs/opsets.md");
  const std::regex row(R"(\n\| (\w+) \| (\d+)[^|]* \|)");
  FirstOpsets operators;
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match)
    operators[(*match)[1]] = std::stoi((*match)[2]);
  return operators;
}

// The operators of the standard in both tables, with the first opset that has them. Those of other
// domains have a prefix in the table of fallbacks.
FirstOpsets operators_of_standard() {
  FirstOpsets operators;
  for (const lowering::OperatorEntry& entry : lowering::operator_table())
    if (entry.domain.empty()) operators.emplace(entry.type, entry.since);
  for (const auto family : fallback::operator_families())
    for (const fallback::OperatorSpec& spec : family)
      if (std::string_view(spec.name).find('.') == std::string_view::npos)
        operators.emplace(spec.name, spec.since);
  return operators;
}

TEST(OpsetsPage, ListsEveryOperatorOfTheOpsets) {
  const FirstOpsets on_page = operators_of_page();
  for (const auto& [name, since] : operators_of_standard()) {
    if (since < kFirstOfPage) continue;
    const auto row = on_page.find(name);
    ASSERT_TRUE(row != on_page.end()) << name << " is missing";
    EXPECT_EQ(row->second, since) << name;
  }
}

// An older operator has a row where an opset of the page changed it.
TEST(OpsetsPage, ListsOperatorsThatAreThere) {
  const FirstOpsets operators = operators_of_standard();
  for (const auto& [name, since] : operators_of_page()) {
    const auto entry = operators.find(name);
    ASSERT_TRUE(entry != operators.end()) << name;
    EXPECT_LE(entry->second, since) << name;
    EXPECT_LE(since, lowering::kMaxOpset) << name;
  }
}

}  // namespace
}  // namespace millrace::compiler
