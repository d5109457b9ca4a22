// docs/rai-format.md lists all operators of the archive with their attributes.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "graph/archive/enums.h"
#include "graph/operators.h"
#include "source_dir.h"
#include "tests/support/page_text.h"

namespace millrace::graph {
namespace {

// type_name() returns what the page calls the type of an attribute.
template <class Enumerator>
std::string type_name(Enumerator enumerator) {
  return title_of(enumerator);
}
std::string type_name(bool) {
  return "bool";
}
std::string type_name(int64_t) {
  return "int64";
}
std::string type_name(float) {
  return "float32";
}
std::string type_name(const Dims&) {
  return "[int64]";
}
std::string type_name(const std::vector<float>&) {
  return "[float32]";
}
std::string type_name(const Activation&) {
  return "Activation";
}

template <class Op>
std::string attributes_of(const Op& op) {
  std::string text;
  const auto add = [&](const auto& attribute) {
    text += text.empty() ? "`" : ", `";
    text += attribute.name + ("` " + type_name(op.*attribute.value));
  };
  Op::attributes([&](const auto&... attributes) { (add(attributes), ...); });
  return text;
}

// Fallbacks have a paragraph of their own.
std::string attributes_of(const Fallback&) {
  return "below";
}

TEST(ArchivePage, ListsEveryOperatorWithItsAttributes) {
  std::string table = "| number | operator | attributes |\n|---|---|---|\n";
  int number = 0;
#define MILLRACE_X(Op) \
  table += "| " + std::to_string(++number) + " | " #Op " | " + attributes_of(Op()) + " |\n";
  MILLRACE_GRAPH_OPERATORS(MILLRACE_X)
#undef MILLRACE_X
  EXPECT_THAT(test::content(MILLRACE_SOURCE_DIR "/docs/rai-format.md"),
              testing::HasSubstr(table + "\n"))
      << "the table on the page should be\n"
      << table;
}

}  // namespace
}  // namespace millrace::graph
