#include "cli/conformance/junit.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

namespace millrace::cli {
namespace {

using boost::property_tree::ptree;

// Replaces control characters, most of which XML cannot represent, and bytes that are not UTF-8.
std::string for_xml(const std::string& text) {
  const bool is_text = is_utf8(text);
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool holds = code >= 0x80 ? is_text : (code >= 0x20 && code != 0x7f) || c == '\n';
    result += holds ? c : '?';
  }
  return result;
}

void set_attribute(ptree& element, const std::string& name, const std::string& value) {
  element.put("<xmlattr>." + name, for_xml(value));
}

ptree explanation(const Outcome& outcome) {
  ptree element;
  set_attribute(element, "message",
                fmt::format("{}: {}", to_string(outcome.verdict), on_one_line(outcome.reason)));
  element.put_value(for_xml(outcome.reason));
  return element;
}

ptree test_case(const CaseResult& result) {
  const std::string suite = suite_of(result.test.name);
  const Outcome& outcome = result.outcome;
  ptree element;
  set_attribute(element, "classname", suite);
  set_attribute(element, "name", result.test.name.substr(suite.size() + 1));
  set_attribute(element, "time", fmt::format("{:.3f}", outcome.seconds));
  if (outcome.verdict == Verdict::kFail)
    element.add_child("failure", explanation(outcome));
  else if (outcome.verdict != Verdict::kPass)
    element.add_child("skipped", explanation(outcome));
  if (outcome.verdict == Verdict::kPass)
    element.put("system-out", "largest error: " + describe(outcome.error));
  return element;
}

ptree test_suite(const std::string& name, const Totals& totals,
                 std::span<const CaseResult> results) {
  ptree element;
  set_attribute(element, "name", name);
  set_attribute(element, "tests", std::to_string(totals.found()));
  set_attribute(element, "failures", std::to_string(totals.failed));
  set_attribute(element, "errors", "0");
  set_attribute(element, "skipped", std::to_string(totals.unsupported + totals.excluded));
  for (const CaseResult& result : results)
    if (suite_of(result.test.name) == name) element.add_child("testcase", test_case(result));
  return element;
}

}  // namespace

std::string junit_text(std::span<const CaseResult> results) {
  ptree suites;
  for (const auto& [name, totals] : totals_by_suite(results))
    suites.add_child("testsuite", test_suite(name, totals, results));
  ptree document;
  document.add_child("testsuites", suites);
  std::ostringstream stream;
  boost::property_tree::write_xml(
      stream, document, boost::property_tree::xml_writer_make_settings<std::string>(' ', 1));
  return stream.str();
}

}  // namespace millrace::cli
