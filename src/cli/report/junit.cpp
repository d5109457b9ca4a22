#include "cli/report/junit.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
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

ptree explanation(const JunitCase& result) {
  ptree element;
  set_attribute(element, "message", result.message);
  element.put_value(for_xml(result.text));
  return element;
}

ptree test_case(const JunitCase& result) {
  ptree element;
  set_attribute(element, "classname", result.classname);
  set_attribute(element, "name", result.name);
  set_attribute(element, "time", fmt::format("{:.3f}", result.seconds));
  if (result.verdict == JunitVerdict::kFailed)
    element.add_child("failure", explanation(result));
  else if (result.verdict == JunitVerdict::kSkipped)
    element.add_child("skipped", explanation(result));
  if (!result.output.empty()) element.put("system-out", for_xml(result.output));
  return element;
}

std::string count_of(const JunitSuite& suite, JunitVerdict verdict) {
  return std::to_string(std::ranges::count(suite.cases, verdict, &JunitCase::verdict));
}

ptree test_suite(const JunitSuite& suite) {
  ptree element;
  set_attribute(element, "name", suite.name);
  set_attribute(element, "tests", std::to_string(suite.cases.size()));
  set_attribute(element, "failures", count_of(suite, JunitVerdict::kFailed));
  set_attribute(element, "errors", "0");
  set_attribute(element, "skipped", count_of(suite, JunitVerdict::kSkipped));
  for (const JunitCase& result : suite.cases) element.add_child("testcase", test_case(result));
  return element;
}

}  // namespace

std::string junit_text(std::span<const JunitSuite> suites) {
  ptree all;
  for (const JunitSuite& suite : suites) all.add_child("testsuite", test_suite(suite));
  ptree document;
  document.add_child("testsuites", all);
  std::ostringstream stream;
  boost::property_tree::write_xml(
      stream, document, boost::property_tree::xml_writer_make_settings<std::string>(' ', 1));
  return stream.str();
}

}  // namespace millrace::cli
