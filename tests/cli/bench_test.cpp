// `millrace bench`: what each scenario reports. How long anything takes is not asserted.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BenchTest : public CliTest {
 protected:
  // The JSON of a run with these options.
  json figures(std::vector<std::string> options) const {
    options.insert(options.begin(), {"bench", kGlyphsOnnx});
    options.push_back("--json");
    const ProgramResult result = millrace(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out, nullptr, false);
  }

  std::string content(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

void expect_times_in_order(const json& latency) {
  const char* const names[] = {"min", "median", "p90", "p95", "p99", "p99_9", "max"};
  EXPECT_GT(latency["min"], 0.0);
  for (size_t i = 1; i < std::size(names); ++i)
    EXPECT_LE(latency[names[i - 1]], latency[names[i]]) << names[i];
}

TEST_F(BenchTest, SaysThatTimesAreThoseOfAProfile) {
  std::ofstream(file("board.json"))
      << R"({"format": "millrace-pace", "version": 1, "models": {"*": {"mean_us": 100}}})";
  const std::vector<std::string> command = {"bench", kGlyphsOnnx, "--device", "null", "-n", "2"};
  EXPECT_THAT(millrace(command).err, testing::Not(HasSubstr("MILLRACE_PACE")));
  ::setenv("MILLRACE_PACE", file("board.json").c_str(), 1);
  const ProgramResult paced = millrace(command);
  ::unsetenv("MILLRACE_PACE");
  EXPECT_EQ(paced.exit_code, 0) << paced.err;
  EXPECT_THAT(paced.err, AllOf(HasSubstr("note: MILLRACE_PACE is set"), HasSubstr("board.json")));
}

TEST_F(BenchTest, EveryScenarioRunsAsManyJobsAsItIsAsked) {
  for (const char* scenario : {"single-stream", "multi-stream", "offline", "server"}) {
    SCOPED_TRACE(scenario);
    const bool one_by_one = scenario == std::string_view("single-stream");
    std::vector<std::string> options = {"--scenario", scenario, "-n", "12"};
    if (!one_by_one) options.insert(options.end(), {"--in-flight", "4"});
    if (scenario == std::string_view("server")) options.insert(options.end(), {"--qps", "2000"});
    const json found = figures(options);
    EXPECT_EQ(found["scenario"], scenario);
    EXPECT_EQ(found["jobs"], 12);
    EXPECT_EQ(found["in_flight"], one_by_one ? 1 : 4);
    EXPECT_GT(found["frames_per_second"], 0.0);
    EXPECT_GT(found["busy_cores"], 0.0);
    EXPECT_EQ(found["bytes_copied_per_job"], 0.0) << "views of FP32 are read in place";
    expect_times_in_order(found["latency_ms"]);
  }
}

// The report describes the measurement, with and without a scenario: a figure alone is of no use.
TEST_F(BenchTest, JsonSaysWhatWasMeasuredAndOnWhat) {
  const std::vector<std::string> subject = {"--batch", "2",        "--view", "hw", "--lanes",
                                            "1",       "--device", "null",   "-n", "4"};
  for (const bool in_short : {false, true}) {
    std::vector<std::string> options = subject;
    if (!in_short) options.insert(options.end(), {"--scenario", "offline"});
    const json found = figures(options);
    EXPECT_EQ(found["precision"], "fp32");
    EXPECT_EQ(found["batch"], 2);
    EXPECT_EQ(found["view"], "hw");
    EXPECT_EQ(found["lanes"], 1);
    EXPECT_THAT(found["device"].get<std::string>(), HasSubstr("null"));
  }
}

TEST_F(BenchTest, JsonSaysWhereItWasMeasured) {
  const json found = figures({"-n", "4"});
  EXPECT_FALSE(found["version"].get<std::string>().empty());
  EXPECT_TRUE(found["processor"].is_string());
  EXPECT_GT(found["peak_memory_bytes"], 1'000'000);
  EXPECT_GE(found["latency_ms"]["spread"], 0.0);
  EXPECT_EQ(found.count("interrupted"), 0u);
}

TEST_F(BenchTest, RunsOnDataThatIsGiven) {
  const std::string images = kGlyphsFolder + "heldback_images.npy";
  EXPECT_GT(figures({"-n", "4", "--input", images, "--normalize", "unit"})["frames_per_second"],
            0.0);
  expect_failure(millrace({"bench", kGlyphsOnnx, "-n", "4", "--input", "none.npy"}), "none.npy");
}

TEST_F(BenchTest, WritesEachQueryAsCommaSeparatedValues) {
  const ProgramResult result = millrace({"bench", kGlyphsOnnx, "--scenario", "single-stream", "-n",
                                         "5", "--csv", file("queries.csv")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string text = content("queries.csv");
  EXPECT_THAT(text, StartsWith("issued_ns,latency_ns\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 6);
}

TEST_F(BenchTest, CtrlCGivesTheFiguresUntilThen) {
  const ProgramResult result =
      run_program({"/usr/bin/timeout", "--preserve-status", "--signal=INT", "2", MILLRACE_PROGRAM,
                   "bench", kGlyphsOnnx, "--scenario", "offline", "--duration", "100s", "--json"},
                  directory_.path().string());
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(json::parse(result.out, nullptr, false)["interrupted"], true);
}

// A thousand seconds pass between two jobs. The first one arrives when the user ends the run.
TEST_F(BenchTest, CtrlCEndsTheWaitForAnArrival) {
  const ProgramResult result = run_program(
      {"/usr/bin/timeout", "--preserve-status", "--signal=INT", "2", MILLRACE_PROGRAM, "bench",
       kGlyphsOnnx, "--device", "null", "--scenario", "server", "--qps", "0.001", "--json"},
      directory_.path().string());
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const json found = json::parse(result.out, nullptr, false);
  ASSERT_TRUE(found.is_object()) << result.err;
  EXPECT_EQ(found["interrupted"], true);
  EXPECT_EQ(found["jobs"], 1);
}

// An option that nobody would look at is a mistake of the user.
TEST_F(BenchTest, RefusesOptionsOfLocalModelsForAServer) {
  const auto refusal = [this](std::vector<std::string> options) {
    options.insert(options.begin(), {"bench", "--url", "http://127.0.0.1:1", "--model", "a"});
    const ProgramResult result = millrace(options);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(refusal({"--device", "null", "--warmup", "10"}),
              HasSubstr("--warmup and --device are for models that run here"));
  for (const char* option : {"--plot", "--csv", "--memory-limit"})
    EXPECT_THAT(refusal({option, "1g"}), HasSubstr(option));
  EXPECT_THAT(refusal({"--precision", "fp32"}), HasSubstr("--precision is for"));
  EXPECT_THAT(refusal({"--sandbox"}), HasSubstr("--sandbox is for"));
  EXPECT_THAT(refusal({"--mean", "1"}), HasSubstr("--mean is for"));
  EXPECT_THAT(refusal({"--lanes", "2"}), HasSubstr("--lanes is for --scenario server"));
  EXPECT_THAT(refusal({"--scenario", "offline", "--seed", "2"}), HasSubstr("--seed is for"));
  EXPECT_THAT(millrace({"bench", "a.rai", "--retries", "2"}).err, HasSubstr("is for --url"));
  EXPECT_THAT(millrace({"bench", "a.rai", "--tls-ca", "a.pem"}).err, HasSubstr("is for --url"));
  EXPECT_THAT(refusal({"--tls-ca", "a.pem"}), HasSubstr("--tls-ca is for servers of https://"));
  EXPECT_THAT(millrace({"bench", "--url", "ftp://a:1", "--model", "a"}).err,
              HasSubstr("must be http://HOST:PORT"));
}

TEST_F(BenchTest, JsonSaysWhyThePrecisionIsAnother) {
  const json found = figures({"--precision", "fp16", "-n", "4"});
  EXPECT_EQ(found["precision"], "fp32");
  EXPECT_THAT(found["note"].get<std::string>(), HasSubstr("does not compute in it"));
  EXPECT_EQ(figures({"--precision", "fp32", "-n", "4"}).count("note"), 0u);
}

TEST_F(BenchTest, MultiStreamRunsWholeQueries) {
  EXPECT_EQ(figures({"--scenario", "multi-stream", "-n", "9"})["jobs"], 16)
      << "two queries of eight jobs";
}

TEST_F(BenchTest, ARunWithADurationTakesThatLong) {
  const json found = figures({"--scenario", "offline", "--duration", "0.2"});
  EXPECT_GE(found["seconds"], 0.2);
  EXPECT_GE(found["jobs"], 1);
}

TEST_F(BenchTest, CountsTheBytesOfViewsThatAreConverted) {
  // BF16 programs convert both boundary tensors: 32x32 pixels and 10 scores or so.
  const json found = figures({"--scenario", "single-stream", "-n", "5", "--precision", "bf16"});
  EXPECT_GT(found["bytes_copied_per_job"], 32.0 * 32 * 4);
}

TEST_F(BenchTest, AServerIsComparedWithTheIdealQueue) {
  const json found = figures(
      {"--scenario", "server", "--qps", "500", "-n", "40", "--seed", "7", "--threads", "1"});
  const json& server = found["server"];
  EXPECT_EQ(server["queries_per_second"], 500.0);
  EXPECT_EQ(server["seed"], 7);
  EXPECT_EQ(server["servers"], 1);
  EXPECT_GT(server["service_ms"], 0.0);
  EXPECT_GE(server["ideal_p99_ms"], server["service_ms"]);
  EXPECT_GT(found["latency_ms"]["p99"], 0.0);
}

// The load is an open loop: jobs arrive on schedule even if the server is slow, and each is late by
// the time that those before it take.
TEST_F(BenchTest, AServerCountsFromTheTimeAtWhichAJobWasToBeIssued) {
  ::setenv("MILLRACE_FAULTS", "slow=20ms", 1);
  const json found = figures({"--scenario", "server", "--qps", "1000", "-n", "20", "--in-flight",
                              "2", "--threads", "1", "--warmup", "0"});
  ::unsetenv("MILLRACE_FAULTS");
  // The last of twenty jobs is completed after 400 ms, and arrived after about 20 ms.
  EXPECT_GT(found["latency_ms"]["max"], 250.0);
  EXPECT_GT(found["server"]["ideal_p99_ms"], 250.0);
}

TEST_F(BenchTest, WritesJsonAndPlotToFiles) {
  const ProgramResult result =
      millrace({"bench", kGlyphsOnnx, "-n", "20", "--scenario", "offline",
                "--json=" + file("figures.json"), "--plot", file("plot.svg")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("p99.9"), HasSubstr("cores busy"),
                                HasSubstr("bytes copied per job")));
  EXPECT_EQ(json::parse(content("figures.json"), nullptr, false)["jobs"], 20);
  EXPECT_THAT(content("plot.svg"), AllOf(StartsWith("<svg"), HasSubstr("offline")));
}

TEST_F(BenchTest, TheFilesOfASandboxedRunAreWrittenToo) {
  const ProgramResult result = millrace(
      {"bench", compiled("glyphs.rai"), "-n", "5", "--scenario", "server", "--qps", "1000",
       "--time-limit", "60s", "--json=" + file("figures.json"), "--plot", file("plot.svg")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(content("figures.json"), nullptr, false)["jobs"], 5);
  EXPECT_THAT(content("plot.svg"), StartsWith("<svg"));
}

TEST_F(BenchTest, AFailedJobIsNamedAndEndsEveryScenario) {
  for (const char* scenario : {"single-stream", "multi-stream", "offline", "server"}) {
    ::setenv("MILLRACE_FAULTS", "fail=6", 1);
    std::vector<std::string> options = {"bench",    kGlyphsOnnx, "-n",         "10",
                                        "--warmup", "0",         "--scenario", scenario};
    if (scenario == std::string_view("server")) options.insert(options.end(), {"--qps", "5000"});
    const ProgramResult result = millrace(options);
    ::unsetenv("MILLRACE_FAULTS");
    expect_failure(result, std::string(scenario) + ", job 6");
  }
}

TEST_F(BenchTest, AFailedJobInTheMiddleOfAQueryHasItsOwnNumber) {
  ::setenv("MILLRACE_FAULTS", "fail=5", 1);
  const ProgramResult result = millrace({"bench", kGlyphsOnnx, "-n", "10", "--warmup", "0",
                                         "--scenario", "multi-stream", "--in-flight", "2"});
  ::unsetenv("MILLRACE_FAULTS");
  expect_failure(result, "multi-stream, job 5");
}

TEST_F(BenchTest, ASweepHasARunForEachValue) {
  const json found = figures({"-n", "6", "--sweep", "in-flight=1,3", "--csv", file("runs.csv")});
  EXPECT_EQ(found["scenario"], "offline");
  ASSERT_EQ(found["runs"].size(), 2u);
  EXPECT_EQ(found["runs"][0]["in_flight"], 1);
  EXPECT_EQ(found["runs"][1]["in_flight"], 3);
  for (const json& run : found["runs"]) {
    EXPECT_EQ(run["jobs"], 6);
    EXPECT_GT(run["frames_per_second"], 0.0);
    expect_times_in_order(run["latency_ms"]);
  }
  EXPECT_THAT(content("runs.csv"), StartsWith("scenario,in_flight,queries_per_second,jobs,"));
  EXPECT_EQ(std::ranges::count(content("runs.csv"), '\n'), 3);
}

TEST_F(BenchTest, ASweepOfRatesIsOfTheServerScenario) {
  const ProgramResult result =
      millrace({"bench", kGlyphsOnnx, "-n", "5", "--sweep", "qps=400,800", "--time-limit", "60s"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("\nserver "), HasSubstr("  400.0  "), HasSubstr("  800.0  ")));
}

// An hour is a condition that always holds.
TEST_F(BenchTest, ASearchSaysAtWhichRateTheConditionHolds) {
  const json found = figures({"-n", "4", "--find-rate", "p99<1h", "--csv", file("runs.csv")});
  EXPECT_EQ(found["condition"], "p99<1h");
  const json& runs = found["runs"];
  ASSERT_GE(runs.size(), 3u);
  EXPECT_EQ(runs[0]["scenario"], "single-stream");
  EXPECT_EQ(runs[0]["in_flight"], 1);
  EXPECT_EQ(runs[1]["scenario"], "offline");
  for (size_t i = 2; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i]["scenario"], "server");
    EXPECT_EQ(runs[i]["holds"], true);
  }
  EXPECT_EQ(found["highest_rate"], runs.back()["queries_per_second"]);
  EXPECT_LE(found["highest_rate"], found["capacity"]);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(content("runs.csv"), '\n')), runs.size() + 1);
}

// Such a condition is given up after the first run, which has one job at a time.
TEST_F(BenchTest, ASearchEndsAtOnceIfOneJobAtATimeIsTooSlow) {
  const ProgramResult never = millrace(
      {"bench", kGlyphsOnnx, "-n", "2", "--find-rate", "max<1ns", "--csv", file("runs.csv")});
  EXPECT_EQ(never.exit_code, 0) << never.err;
  EXPECT_THAT(never.out, HasSubstr("max<1ns does not hold even with one job at a time"));
  EXPECT_EQ(std::ranges::count(content("runs.csv"), '\n'), 2);
}

TEST_F(BenchTest, OptionsOfASeriesOfRunsAreChecked) {
  const auto refused = [this](std::vector<std::string> options, const char* culprit) {
    options.insert(options.begin(), {"bench", kGlyphsOnnx});
    expect_wrong_command_line(millrace(options), culprit);
  };
  refused({"--sweep", "lanes=1,2"}, "in-flight=1,2,4");
  refused({"--sweep", "in-flight=0,2"}, "in-flight=1,2,4");
  refused({"--sweep", "qps=nan"}, "no rate");
  refused({"--sweep", "in-flight=1,2", "--in-flight", "2"}, "give one");
  refused({"--sweep", "in-flight=1,2", "--find-rate", "p99<1ms"}, "give one");
  refused({"--sweep", "in-flight=1,2", "--scenario", "single-stream"},
          "--sweep in-flight is for other scenarios; single-stream has one job in flight");
  refused({"--sweep", "qps=1,2", "--scenario", "offline"}, "--sweep qps is for --scenario server");
  refused({"--find-rate", "p99<1ms", "--scenario", "offline"},
          "--find-rate measures --scenario server");
  refused({"--sweep", "in-flight=1,2", "--plot", "a.svg"}, "--csv");
  refused({"--find-rate", "p99"}, "p99<20ms");
  refused({"--find-rate", "p99<1ms", "--qps", "5"},
          "--find-rate chooses the rates, so --qps has no effect");
}

TEST_F(BenchTest, SeveralModelsRunAtTheSameTime) {
  const std::string archive = compiled("b:1.rai");
  const auto line = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"bench",    "--model",  kGlyphsOnnx + ":rate=200,priority=1",
                                      "--model",  archive,    "--duration",
                                      "0.1",      "--device", "null",
                                      "--warmup", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return millrace(words);
  };
  const ProgramResult result = line({"--json", "--csv", file("models.csv")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  ASSERT_EQ(report["models"].size(), 2u);
  const json& first = report["models"][0];
  const json& second = report["models"][1];
  EXPECT_EQ(first["scenario"], "server");
  EXPECT_EQ(first["queries_per_second"], 200);
  EXPECT_EQ(first["priority"], 1);
  EXPECT_EQ(second["model"], archive) << "a colon in a name";
  EXPECT_EQ(second["scenario"], "offline");
  expect_times_in_order(first["latency_ms"]);
  EXPECT_EQ(report["jobs"], first["jobs"].get<int>() + second["jobs"].get<int>());
  EXPECT_EQ(std::ranges::count(content("models.csv"), '\n'), 3);
  EXPECT_THAT(content("models.csv"), StartsWith("model,priority,queries_per_second,"));
  EXPECT_THAT(line({}).out, AllOf(HasSubstr("\nglyphs.onnx  "), HasSubstr("\nb:1.rai "),
                                  HasSubstr("\nsum "), HasSubstr("cores busy")));
}

TEST_F(BenchTest, OptionsOfSeveralModelsAreChecked) {
  const auto refused = [this](std::vector<std::string> options, const char* culprit) {
    options.insert(options.begin(), "bench");
    expect_wrong_command_line(millrace(options), culprit);
  };
  refused({}, "name the model");
  refused({kGlyphsOnnx, "--model", kGlyphsOnnx}, "name each of several models with --model");
  refused({"--model", kGlyphsOnnx + ":rat=20"}, "there is no option rat; did you mean rate?");
  refused({"--model", kGlyphsOnnx + ":rate=0"}, "no rate of arrivals");
  refused({"--model", kGlyphsOnnx + ":in-flight=0"}, "not in the range 1 to 1024");
  refused({"--model", kGlyphsOnnx, "--qps", "5"}, "--model FILE:rate=20");
  refused({"--model", kGlyphsOnnx, "-n", "5"}, "for a --duration");
  refused({"--model", kGlyphsOnnx, "--input", "a.npy"}, "--input and --shape are for one model");
}

TEST_F(BenchTest, TheModelIsNoFileForJson) {
  expect_wrong_command_line(millrace({"bench", "--json", "run.json", kGlyphsOnnx}),
                            "a value of --json is written --json=run.json");
  EXPECT_EQ(millrace({"bench", "--json", kGlyphsOnnx, "-n", "1"}).exit_code, 0);
}

TEST_F(BenchTest, OptionsThatDoNotGoTogetherAreRefused) {
  expect_wrong_command_line(millrace({"bench", kGlyphsOnnx, "--scenario", "server"}), "--qps");
  expect_wrong_command_line(millrace({"bench", kGlyphsOnnx, "--scenario", "offline", "--qps", "5"}),
                            "--scenario server");
  expect_wrong_command_line(millrace({"bench", kGlyphsOnnx, "--plot", "a.svg"}), "--scenario");
  expect_wrong_command_line(millrace({"bench", kGlyphsOnnx, "-n", "5", "--duration", "1s"}),
                            "excludes");
  expect_wrong_command_line(
      millrace({"bench", kGlyphsOnnx, "--scenario", "single-stream", "--in-flight", "2"}),
      "one job in flight");
  expect_wrong_command_line(
      millrace({"bench", kGlyphsOnnx, "--scenario", "offline", "--seed", "1"}),
      "--seed is for --scenario server");
  expect_failure(
      millrace({"bench", kGlyphsOnnx, "--scenario", "server", "--qps", "1e9", "--duration", "24h"}),
      "at most 10000000 jobs");
  expect_wrong_command_line(
      millrace({"bench", kGlyphsOnnx, "--scenario", "server", "--qps", "nan"}), "--qps");
  for (const char* rate : {"0", "-1", "inf", "many"})
    EXPECT_EQ(millrace({"bench", kGlyphsOnnx, "--scenario", "server", "--qps", rate}).exit_code, 2)
        << rate;
  EXPECT_EQ(millrace({"bench", kGlyphsOnnx, "--scenario", "batch"}).exit_code, 2);
}

}  // namespace
}  // namespace millrace::test
