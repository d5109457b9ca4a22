// The programs of docs/hazards.md: the checker finds the hazard of each wrong program, and nothing
// in the right one. The page shows the programs as they are.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/support/page_text.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kSource = MILLRACE_SOURCE_DIR;

// Runs programs on a device whose jobs take some time, with the tiny model. In wrong programs they
// must still be in flight at the mistake, also on a machine that is busy.
class HazardPrograms {
 public:
  HazardPrograms() { EXPECT_TRUE(write_tiny_model(directory_.file("tiny.rai")).ok()); }

  ProgramResult run(const std::vector<std::string>& before, const std::string& program,
                    const std::string& name) const {
    const std::string slow = name.ends_with("_wrong") ? "slow=300ms" : "slow=60ms";
    std::vector<std::string> command = {"/usr/bin/env", "MILLRACE_DEVICE=null",
                                        "MILLRACE_CHECK_CALLBACK_MS=100", "MILLRACE_FAULTS=" + slow,
                                        "MILLRACE_TRANSFER_FAULTS=" + slow};
    if (name.starts_with("missing_sync")) command.push_back("MILLRACE_STRICT_SYNC=1");
    command.insert(command.end(), before.begin(), before.end());
    command.insert(command.end(), {std::string(MILLRACE_HAZARD_PROGRAMS) + "/" + program,
                                   directory_.file("tiny.rai"), name});
    return run_program(command, directory_.path());
  }
  // Returns the findings that the program has left in the file of MILLRACE_CHECK.
  std::vector<json> findings_of(const std::string& program, const std::string& name) const {
    const std::string path = directory_.file(program + name + ".json");
    const ProgramResult result = run({"MILLRACE_CHECK=" + path}, program, name);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::ifstream file(path);
    std::vector<json> findings;
    for (std::string line; std::getline(file, line);)
      if (json finding = json::parse(line); finding.contains("hazard"))
        findings.push_back(std::move(finding));
    return findings;
  }
  std::string path(const std::string& name) const { return directory_.file(name); }

 private:
  const TemporaryDirectory directory_;
};

std::set<std::string> hazards_in(const std::vector<json>& findings) {
  std::set<std::string> hazards;
  for (const json& finding : findings) hazards.insert(finding["hazard"]);
  return hazards;
}

struct Case {
  const char* program;
  const char* hazard;
  const char* variant = "";  // after the hazard, in the names of programs
  friend std::ostream& operator<<(std::ostream& out, const Case& made) {
    return out << made.program << " " << made.hazard << made.variant;
  }
};

class Hazards : public ::testing::TestWithParam<Case> {};

TEST_P(Hazards, AreFoundInTheWrongProgramOnly) {
  const HazardPrograms programs;
  const auto& [program, hazard, variant] = GetParam();
  const std::string name = std::string(hazard) + variant;
  const std::vector<json> found = programs.findings_of(program, name + "_wrong");
  EXPECT_EQ(hazards_in(found), std::set<std::string>{hazard}) << json(found).dump(2);
  const std::vector<json> none = programs.findings_of(program, name + "_right");
  EXPECT_TRUE(none.empty()) << json(none).dump(2);
}

// Returns the body of a function in the source, as the page shows it.
std::string body_of(const std::string& source, const std::string& function) {
  const size_t name = source.find(" " + function + "(");
  EXPECT_NE(name, std::string::npos) << function;
  const size_t line = source.rfind('\n', name) + 1;
  const std::string indent(source.find_first_not_of(' ', line) - line, ' ');
  const size_t begin = source.find("{\n", name);
  EXPECT_EQ(begin + 1, source.find('\n', name)) << function << " has no lines of its own";
  const size_t end = source.find("\n" + indent + "}\n", name);
  std::string body, text = source.substr(begin + 2, end - begin - 1);
  for (size_t at = 0; at < text.size();) {
    const size_t next = text.find('\n', at) + 1;
    body += text.substr(std::min(at + indent.size() + 2, next - 1), next - at - indent.size() - 2);
    at = next;
  }
  return body;
}

TEST_P(Hazards, AreShownOnThePage) {
  const auto& [program, hazard, variant] = GetParam();
  const std::string page = content(kSource + "/docs/hazards.md");
  const bool is_c = std::string(program) == "nrt_hazards";
  const std::string source = content(kSource + "/tests/check/" + program + (is_c ? ".c" : ".cpp"));
  for (const char* form : {"_wrong", "_right"}) {
    const std::string body = body_of(source, hazard + std::string(variant) + form);
    EXPECT_THAT(page, HasSubstr((is_c ? "```c\n" : "```cpp\n") + body + "```\n"));
  }
}

constexpr const char *kNative = "native_hazards", *kNrt = "nrt_hazards", *kVart = "vart_hazards";
INSTANTIATE_TEST_SUITE_P(
    All, Hazards,
    ::testing::Values(Case{kNative, "shared_output"}, Case{kNative, "unordered_use"},
                      Case{kNative, "input_written"}, Case{kNative, "waited_twice"},
                      Case{kNative, "never_waited"}, Case{kNative, "ignored_status"},
                      Case{kNative, "slow_callback"}, Case{kNative, "busy_polling"},
                      Case{kNrt, "shared_output"}, Case{kNrt, "unordered_use"},
                      Case{kNrt, "input_written"}, Case{kNrt, "early_access"},
                      Case{kNrt, "freed_in_flight"}, Case{kNrt, "freed_in_flight", "_model"},
                      Case{kNrt, "never_waited"}, Case{kNrt, "busy_polling"},
                      Case{kVart, "shared_output"}, Case{kVart, "input_written"},
                      Case{kVart, "missing_sync"}, Case{kVart, "waited_twice"},
                      Case{kVart, "never_waited"}, Case{kVart, "busy_polling"}),
    [](const auto& test) {
      return std::string(test.param.program) + "_" + test.param.hazard + test.param.variant;
    });

TEST(HazardReport, LeavesOutJobsOfThreadsThatStillRunAtTheEnd) {
  const HazardPrograms programs;
  EXPECT_EQ(hazards_in(programs.findings_of("vart_hazards", "thread_has_ended")),
            std::set<std::string>{"never_waited"});
  const std::vector<json> none = programs.findings_of("vart_hazards", "thread_still_runs");
  EXPECT_TRUE(none.empty()) << json(none).dump(2);
}

TEST(HazardReport, LeavesOutJobsWhoseStatusACloseWrites) {
  const std::vector<json> none = HazardPrograms().findings_of("nrt_hazards", "closed_in_flight");
  EXPECT_TRUE(none.empty()) << json(none).dump(2);
}

TEST(HazardReport, NamesJobsTensorAndCallsOfTheProgram) {
  const HazardPrograms programs;
  const std::vector<json> findings = programs.findings_of("native_hazards", "shared_output_wrong");
  ASSERT_EQ(findings.size(), 1u);
  const json& finding = findings[0];
  EXPECT_EQ(finding["jobs"].size(), 2u);
  EXPECT_EQ(finding["tensor"]["role"], "output");
  EXPECT_EQ(finding["tensor"]["name"], kTinyOutput);
  EXPECT_EQ(finding["tensor"]["index"], 0);
  ASSERT_EQ(finding["places"].size(), 2u);
  for (const json& place : finding["places"]) {
    EXPECT_THAT(place["stack"][0], HasSubstr("millrace::Unit::submit"));
    EXPECT_THAT(place["stack"].back(), StartsWith("main (native_hazards+0x"))
        << "what calls main() is not of the program";
  }
}

TEST(HazardReport, NamesTensorAndPlaceOfAMissingSync) {
  const std::vector<json> findings =
      HazardPrograms().findings_of("vart_hazards", "missing_sync_wrong");
  ASSERT_EQ(findings.size(), 1u) << json(findings).dump(2);
  EXPECT_EQ(findings[0]["tensor"]["name"], kTinyInput);
  EXPECT_EQ(findings[0]["jobs"].size(), 1u);
  EXPECT_THAT(findings[0]["places"][0]["stack"].dump(), HasSubstr("main (vart_hazards+0x"));
}

TEST(HazardReport, IsTextOnStandardError) {
  const ProgramResult result =
      HazardPrograms().run({"MILLRACE_CHECK=1"}, "native_hazards", "input_written_wrong");
  EXPECT_THAT(result.err, HasSubstr("input_written: the memory of input \"data\" of job "));
  EXPECT_THAT(result.err, HasSubstr("to fix it: "));
  EXPECT_THAT(result.err, HasSubstr("1 finding: 1 input_written"));
}

TEST(HazardReport, IsNotMadeUnlessAskedFor) {
  for (const char* setting : {"MILLRACE_CHECK=", "MILLRACE_CHECK=0"})
    EXPECT_EQ(HazardPrograms().run({setting}, "native_hazards", "input_written_wrong").err, "");
}

TEST(HazardReport, IsReadByTheProgramItself) {
  const ProgramResult result = HazardPrograms().run({}, "native_hazards", "own_checker");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("shared_output 1 {\"hazard\":\"shared_output\""));
  EXPECT_EQ(result.err, "") << "nothing is printed without a log";
}

TEST(CheckCommand, SaysWhatWasFoundAndEndsAsItIsTold) {
  const HazardPrograms programs;
  const auto checked = [&](std::vector<std::string> options, const std::string& name) {
    options.insert(options.begin(), {MILLRACE_PROGRAM, "check"});
    options.push_back("--");
    return programs.run(options, "native_hazards", name);
  };
  const ProgramResult wrong =
      checked({"--exit-code", "9", "--json", programs.path("f.json")}, "shared_output_wrong");
  EXPECT_EQ(wrong.exit_code, 9);
  EXPECT_THAT(wrong.err, HasSubstr("millrace: 1 finding: 1 shared_output\n"));
  EXPECT_THAT(content(programs.path("f.json")), HasSubstr("\"hazard\":\"shared_output\""));
  EXPECT_EQ(checked({}, "shared_output_wrong").exit_code, 0);
  const ProgramResult right = checked({"--exit-code", "9"}, "shared_output_right");
  EXPECT_EQ(right.exit_code, 0);
  EXPECT_THAT(right.err, HasSubstr("no hazard was found"));
  EXPECT_EQ(checked({}, "no_such_program").exit_code, 1);
}

TEST(CheckCommand, AddsTheLinesOfSources) {
  const HazardPrograms programs;
  const std::string path = programs.path("f.json");
  const ProgramResult result = programs.run({MILLRACE_PROGRAM, "check", "--json", path, "--"},
                                            "native_hazards", "shared_output_wrong");
  EXPECT_THAT(result.err, HasSubstr("native_hazards.cpp:"));
  const std::string findings = content(path);
  // Through ccache an object may name the directory of the checkout that compiled it first.
  EXPECT_THAT(findings,
              ContainsRegex("\"source\":\"[^\"]*tests/check/native_hazards\\.cpp:[0-9]+"));
  EXPECT_THAT(findings, HasSubstr("\"checker\":\"ended\""));
}

TEST(CheckCommand, LooksForMissingSyncsIfAsked) {
  const HazardPrograms programs;
  const auto checked = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {MILLRACE_PROGRAM, "check"});
    options.push_back("--");
    return programs.run(options, "vart_hazards", "waited_twice_right").err;
  };
  EXPECT_THAT(checked({}), HasSubstr("only seen with --strict-sync"));
  EXPECT_THAT(checked({"--strict-sync"}), Not(HasSubstr("strict-sync")));
}

// Runs a shell that writes these lines as the checker of a program would.
ProgramResult check_of(const std::string& lines) {
  return run_program({MILLRACE_PROGRAM, "check", "--", "/bin/sh", "-c",
                      "printf '%s' '" + lines + "' >> \"$MILLRACE_CHECK\""},
                     "/");
}

TEST(CheckCommand, TellsFindingsFromOccurrences) {
  const std::string started = R"({"checker":"started","process":7})"
                              "\n";
  const std::string finding = R"({"hazard":"never_waited","process":7,"places":[]})"
                              "\n";
  const std::string ended = R"({"checker":"ended","process":7,"hazards":{)"
                            R"("missing_sync":{"findings":1,"occurrences":48},)"
                            R"("never_waited":{"findings":1,"occurrences":1}}})"
                            "\n";
  EXPECT_THAT(check_of(started + finding + ended).err,
              HasSubstr("2 findings, which occurred 49 times: 1 missing_sync (48 times), "
                        "1 never_waited\n"));
  EXPECT_THAT(check_of(started + finding + "cut off").err, HasSubstr("1 finding: 1 never_waited"))
      << "of a program that was killed";
  EXPECT_THAT(check_of(started + finding + started + finding).err,
              HasSubstr("2 findings: 2 never_waited"))
      << "of a program that has replaced itself by another";
}

TEST(CheckCommand, SaysThatNothingWasChecked) {
  const ProgramResult result = run_program({MILLRACE_PROGRAM, "check", "--", "true"}, "/");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("has opened no device"));
}

}  // namespace
}  // namespace millrace::test
