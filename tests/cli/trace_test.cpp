// `millrace trace`: what a program leaves, and how it ends.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

class TraceTest : public CliTest {
 protected:
  // Traces a command of the shell in the test's folder.
  ProgramResult traced(const std::string& script, std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"trace"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return millrace(arguments);
  }

  // A benchmark on the null device, of that many jobs besides those that warm up.
  static std::string bench(int jobs) {
    return std::string(MILLRACE_PROGRAM) + " bench " + kGlyphsOnnx +
           " --device null --scenario single-stream --warmup 0 --iterations " +
           std::to_string(jobs);
  }

  size_t jobs_in(const std::string& name) const {
    const Json trace = Json::parse(std::ifstream(file(name)));
    size_t jobs = 0;
    for (const Json& event : trace["traceEvents"]) jobs += event.value("cat", "") == "job";
    return jobs;
  }
};

TEST_F(TraceTest, LeavesTheTimelineAndSaysWhatIsInIt) {
  const ProgramResult result = traced(bench(8));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("latency"));
  EXPECT_THAT(result.err, ContainsRegex("millrace: trace.json: [0-9]+ jobs on [0-9]+ lanes?, the "
                                        "longest [0-9]+:[0-9]+ with [0-9.]+ [mu]?s\n$"));
  EXPECT_GE(jobs_in("trace.json"), 8u);
}

// The same seed gives the same faults of the same jobs, in the same order.
TEST_F(TraceTest, TwoRunsWithTheSameSeedShowTheSameFaults) {
  const auto faults_of = [&](const std::string& seed) {
    const ProgramResult result =
        traced("MILLRACE_FAULTS='slow:for=1us,p=20%; seed=" + seed + "' " + bench(200));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> jobs;
    const Json trace = Json::parse(std::ifstream(file("trace.json")));
    for (const Json& event : trace["traceEvents"])
      if (event.value("name", "") == "injected fault") jobs.push_back(event["args"]["job"]);
    return jobs;
  };
  const std::vector<std::string> first = faults_of("7");
  EXPECT_GT(first.size(), 10u);
  EXPECT_EQ(faults_of("7"), first);
  EXPECT_NE(faults_of("8"), first);
}

TEST_F(TraceTest, PassesOptionsOnToTheProgram) {
  const ProgramResult result =
      millrace({"trace", "-o", "a.json", "--", MILLRACE_PROGRAM, "bench", kGlyphsOnnx, "--device",
                "null", "--json", "--scenario", "single-stream", "--iterations", "5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Json::accept(result.out)) << result.out;
  EXPECT_GT(jobs_in("a.json"), 0u);
}

TEST_F(TraceTest, LeavesAPageForBrowsers) {
  const ProgramResult result = traced(bench(8), {"-o", "trace.html"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("trace.html: [0-9]+ jobs on "));
  std::ifstream page(file("trace.html"));
  std::string first;
  std::getline(page, first);
  EXPECT_EQ(first, "<!DOCTYPE html>");
}

TEST_F(TraceTest, EndsAsTheProgramDoes) {
  const ProgramResult result = traced(bench(2) + "; exit 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_GT(jobs_in("trace.json"), 0u);
  EXPECT_EQ(traced("kill -TERM $$").exit_code, 128 + 15);
}

TEST_F(TraceTest, SaysThatAProgramHasLeftNone) {
  std::ofstream(file("trace.json")) << "that of an earlier program";
  const ProgramResult result = traced("exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("has left no trace"));
}

TEST_F(TraceTest, CountsTheJobsThatFailed) {
  const ProgramResult result = traced("MILLRACE_FAULTS=fail=2 " + bench(4));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err,
              testing::ContainsRegex(
                  "; 1 failed, first [0-9]+:[0-9]+ with DEVICE_FAILED; 1 injected fault\n"));
}

TEST_F(TraceTest, RefusesWhatCannotBeTraced) {
  expect_failure(millrace({"trace", "--", file("no-program")}), "no-program");
  expect_failure(traced("exit 0", {"-o", "no/folder/trace.json"}), "no/folder");
  expect_wrong_command_line(traced("exit 0", {"-o", "trace.txt"}), ".json");
  expect_wrong_command_line(millrace({"trace"}), "program is required");
}

TEST_F(TraceTest, PutsTheProcessesOfAProgramTogether) {
  const ProgramResult result =
      traced(bench(5) + " & " + bench(6) + " & wait", {"--processes", "-o", "all.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, ContainsRegex("all.json: [0-9]+ jobs on 2 lanes"));
  const Json trace = Json::parse(std::ifstream(file("all.json")));
  ASSERT_EQ(trace["otherData"]["programs"].size(), 2u);
  std::map<std::string, int> jobs;  // of each program
  std::set<std::string> arrows;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") {
      EXPECT_TRUE(arrows.insert(event["id"]).second);
    }
    if (event.value("cat", "") != "job") continue;
    const std::string name = event["args"]["job"];
    ++jobs[name.substr(0, name.find('/'))];
    EXPECT_GE(event["ts"], 0);
  }
  ASSERT_EQ(jobs.size(), 2u);
  for (const auto& [name, count] : jobs) {
    EXPECT_GE(count, 5) << name;
    EXPECT_EQ(std::ranges::count(trace["otherData"]["programs"], Json(name)), 1) << name;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1)
      << "the files of the processes are removed";
}

TEST_F(TraceTest, MergesFilesOnOneAxisOfTime) {
  const auto trace = [](const char* rank, int64_t begin_us) {
    return Json{
        {"otherData",
         {{"dropped_events", 1}, {"process", 7}, {"ranks", {rank}}, {"begin_unix_us", begin_us}}},
        {"traceEvents",
         {{{"ph", "M"}, {"pid", 2}, {"name", "process_name"}, {"args", {{"name", "lanes"}}}},
          {{"ph", "X"},
           {"pid", 2},
           {"tid", 0},
           {"cat", "job"},
           {"name", "job 1:1"},
           {"ts", 5},
           {"dur", 1},
           {"args", {{"job", "1:1"}, {"status", "OK"}}}}}}};
  };
  std::ofstream(file("a.json")) << trace("10", 1'700'000'000'000'000);
  std::ofstream(file("b.json")) << trace("2", 1'700'000'000'000'100);
  const ProgramResult result = millrace({"trace", "--merge", "a.json", "b.json", "-o", "c.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json merged = Json::parse(std::ifstream(file("c.json")));
  EXPECT_EQ(merged["otherData"]["programs"], Json({"rank 2", "rank 10"}));
  EXPECT_EQ(merged["otherData"]["dropped_events"], 2);
  const Json& events = merged["traceEvents"];
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["args"]["name"], "rank 2: lanes");
  EXPECT_EQ(events[1]["ts"], 105) << "it began 100 us later";
  EXPECT_EQ(events[1]["args"]["job"], "rank 2/1:1");
  EXPECT_EQ(events[3]["ts"], 5);
  EXPECT_EQ(events[3]["pid"], 12);
}

TEST_F(TraceTest, RefusesToMergeWhatIsNoTrace) {
  std::ofstream(file("text.json")) << "text";
  std::ofstream(file("other.json")) << R"({"traceEvents": [], "otherData": {}})";
  expect_failure(millrace({"trace", "--merge", "text.json", "-o", "c.json"}), "text.json");
  expect_failure(millrace({"trace", "--merge", "other.json", "-o", "c.json"}), "other.json");
  expect_failure(millrace({"trace", "--merge", "none.json", "-o", "c.json"}), "none.json");
  EXPECT_FALSE(std::filesystem::exists(file("c.json")));
  expect_wrong_command_line(millrace({"trace", "--processes", "--merge", "text.json"}), "--merge");
}

TEST_F(TraceTest, LeavesSandboxedProgramsAlone) {
  const ProgramResult result =
      traced(std::string(MILLRACE_PROGRAM) + " run " + kGlyphsOnnx + " --device null --sandbox");
  EXPECT_THAT(result.err, HasSubstr("has left no trace"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("forbidden")));
}

}  // namespace
}  // namespace millrace::test
