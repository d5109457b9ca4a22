// The report of several runs says what a search has found, and warns of too few queries.
#include "cli/bench/sweep_report.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using cli::Scenario;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

cli::SweepRun run_of(Scenario scenario, double per_second, std::optional<bool> holds) {
  cli::SweepRun run;
  run.scenario = scenario;
  run.per_second = per_second;
  run.jobs = run.queries = 200;
  run.seconds = 1;
  run.frames_per_second = 0.05;
  run.holds = holds;
  return run;
}

// A search that has run one job at a time and offline, at 100 jobs per second.
cli::SweepReport searched() {
  cli::SweepReport report;
  report.scenario = Scenario::kServer;
  report.condition = "p99<20ms";
  report.capacity = 100;
  report.runs = {run_of(Scenario::kSingleStream, 0, true),
                 run_of(Scenario::kOffline, 0, std::nullopt)};
  return report;
}

TEST(SweepReport, ASearchNamesTheHighestRate) {
  cli::SweepReport report = searched();
  report.runs.push_back(run_of(Scenario::kServer, 50, true));
  report.runs.push_back(run_of(Scenario::kServer, 75, false));
  report.highest_rate = 50;
  EXPECT_THAT(report_text(report), HasSubstr("\np99<20ms holds up to 50 arrivals per second\n"));
}

TEST(SweepReport, AConditionThatAlwaysHoldsDoesSoUpToTheThroughput) {
  cli::SweepReport report = searched();
  report.runs.push_back(run_of(Scenario::kServer, 98.5, true));
  report.highest_rate = 98.5;
  EXPECT_THAT(report_text(report),
              HasSubstr("holds at every rate up to the throughput of 100.0 jobs per second\n"));
}

TEST(SweepReport, AConditionThatNeverHoldsIsCalledSo) {
  cli::SweepReport report = searched();
  report.runs.push_back(run_of(Scenario::kServer, 50, false));
  EXPECT_THAT(report_text(report), HasSubstr("p99<20ms holds at none of these rates\n"));
  report = searched();
  report.runs = {run_of(Scenario::kSingleStream, 0, false)};
  EXPECT_THAT(report_text(report), HasSubstr("does not hold even with one job at a time"));
  EXPECT_THAT(report_json(report), HasSubstr("\"highest_rate\":null"));
}

TEST(SweepReport, ASearchThatWasEndedConcludesNothing) {
  cli::SweepReport report = searched();
  report.subject.interrupted = true;
  EXPECT_THAT(report_text(report),
              AllOf(HasSubstr("\nthe search was ended after 2 runs\n"), Not(HasSubstr("holds"))));
  EXPECT_THAT(report_json(report), Not(HasSubstr("highest_rate")));
  report.runs.push_back(run_of(Scenario::kServer, 50, true));
  report.highest_rate = 50;
  EXPECT_THAT(report_text(report), HasSubstr("ended after 3 runs; p99<20ms holds at 50 arrivals"));
}

TEST(SweepReport, SlowModelsHaveRatesOfFourDigits) {
  EXPECT_THAT(report_text(searched()), AllOf(HasSubstr("  0.05  "), Not(HasSubstr("  0.0  "))));
}

TEST(SweepReport, PercentilesOfTooFewQueriesAreNoted) {
  cli::SweepReport report = searched();
  EXPECT_THAT(report_text(report), Not(HasSubstr("note:")));
  report.runs.front().queries = 99;
  EXPECT_THAT(report_text(report), HasSubstr("note: p99 of fewer than 100 latencies"));
  report.runs.front().queries = 999;
  report.least_queries = 1000;
  EXPECT_THAT(report_text(report), HasSubstr("note: p99.9 of fewer than 1000 latencies"));
}

TEST(SweepReport, EveryRunHasItsScenario) {
  EXPECT_THAT(report_text(searched()),
              AllOf(HasSubstr("\nsingle-stream "), HasSubstr("\noffline "), HasSubstr("jobs")));
  EXPECT_THAT(sweep_csv(searched()),
              AllOf(StartsWith("scenario,in_flight,queries_per_second,jobs,"),
                    HasSubstr("\nsingle-stream,1,,200,"), HasSubstr("\noffline,1,,200,")));
  EXPECT_THAT(report_json(searched()), HasSubstr("offline"));
}

}  // namespace
}  // namespace millrace::test
