#include "cli/conformance/junit.h"

#include <gmock/gmock.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

namespace millrace::test {
namespace {

using boost::property_tree::ptree;
using cli::CaseResult;
using cli::Outcome;
using cli::Verdict;
using testing::HasSubstr;
using testing::Not;

ptree parsed(const std::string& text) {
  std::istringstream stream(text);
  ptree document;
  boost::property_tree::read_xml(stream, document);
  return document;
}

CaseResult result(const std::string& name, Verdict verdict, const std::string& reason = "") {
  return {{name, {}}, {.verdict = verdict, .reason = reason, .error = {2.0, 0.5}, .seconds = 1.25}};
}

// The children of that name, in order.
std::vector<ptree> children(const ptree& parent, const std::string& name) {
  std::vector<ptree> found;
  for (const auto& [key, child] : parent)
    if (key == name) found.push_back(child);
  return found;
}

TEST(Junit, HasASuitePerFolderWithCounts) {
  const ptree document = parsed(cli::junit_text(std::vector<CaseResult>{
      result("node/test_a", Verdict::kPass), result("node/test_b", Verdict::kFail, "wrong"),
      result("node/test_c", Verdict::kUnsupported, "no kernel"),
      result("node/test_d", Verdict::kExcluded, "training"),
      result("simple/test_e", Verdict::kPass)}));
  const auto suites = children(document.get_child("testsuites"), "testsuite");
  ASSERT_EQ(suites.size(), 2u);
  EXPECT_EQ(suites[0].get<std::string>("<xmlattr>.name"), "node");
  EXPECT_EQ(suites[0].get<int>("<xmlattr>.tests"), 4);
  EXPECT_EQ(suites[0].get<int>("<xmlattr>.failures"), 1);
  EXPECT_EQ(suites[0].get<int>("<xmlattr>.skipped"), 2);
  EXPECT_EQ(suites[1].get<int>("<xmlattr>.tests"), 1);
}

TEST(Junit, SaysOfEachCaseWhatBecameOfIt) {
  const ptree document = parsed(cli::junit_text(std::vector<CaseResult>{
      result("node/test_a", Verdict::kPass), result("node/test_b", Verdict::kFail, "one\n  two"),
      result("node/test_c", Verdict::kUnsupported, "no kernel")}));
  const auto cases = children(document.get_child("testsuites.testsuite"), "testcase");
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].get<std::string>("<xmlattr>.classname"), "node");
  EXPECT_EQ(cases[0].get<std::string>("<xmlattr>.name"), "test_a");
  EXPECT_EQ(cases[0].get<std::string>("<xmlattr>.time"), "1.250");
  EXPECT_EQ(cases[0].get<std::string>("system-out"), "largest error: 2 ULP, 0.5 absolute");
  EXPECT_TRUE(children(cases[0], "failure").empty());
  EXPECT_EQ(cases[1].get<std::string>("failure.<xmlattr>.message"), "fail: one; two");
  EXPECT_EQ(cases[1].get<std::string>("failure"), "one\n  two");
  EXPECT_EQ(cases[2].get<std::string>("skipped.<xmlattr>.message"), "unsupported: no kernel");
}

TEST(Junit, EscapesWhatReasonsContain) {
  const std::string reason = "a < b && c > \"d\" or 'e' ]]> \xC3\xA4";
  const std::string text =
      cli::junit_text(std::vector<CaseResult>{result("node/<a&b>\"", Verdict::kFail, reason)});
  const ptree test = parsed(text).get_child("testsuites.testsuite.testcase");
  EXPECT_EQ(test.get<std::string>("<xmlattr>.name"), "<a&b>\"");
  EXPECT_EQ(test.get<std::string>("failure"), reason);
  EXPECT_EQ(test.get<std::string>("failure.<xmlattr>.message"), "fail: " + reason);
}

TEST(Junit, ReplacesWhatXmlCannotHold) {
  const std::string text = cli::junit_text(std::vector<CaseResult>{
      result("node/a", Verdict::kFail, std::string("zero \0, bell \x07, escape \x1b", 24)),
      result("node/b", Verdict::kFail, "not UTF-8: \xff\xc3")});
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
  const auto cases = children(parsed(text).get_child("testsuites.testsuite"), "testcase");
  EXPECT_EQ(cases[0].get<std::string>("failure"), "zero ?, bell ?, escape ?");
  EXPECT_EQ(cases[1].get<std::string>("failure"), "not UTF-8: ??");
}

}  // namespace
}  // namespace millrace::test
