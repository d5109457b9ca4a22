// The simulation against queues whose figures are known, and its report.
#include "cli/simulate/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/simulate/load_plot.h"
#include "cli/simulate/simulation_report.h"

namespace millrace::test {
namespace {

using cli::simulate;
using cli::SimulatedLoad;
using cli::SimulatedRun;
using cli::SimulatedSystem;
using device::ServiceTimes;
using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;

// Each job takes a millisecond.
const ServiceTimes& constant() {
  static const ServiceTimes times = ServiceTimes::constant(milliseconds(1)).value();
  return times;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(Simulation, OneJobInFlightTakesItsTime) {
  const SimulatedRun run = simulate({.times = &constant()}, {.in_flight = 1, .jobs = 100});
  EXPECT_EQ(run.latencies_ms.size(), 100u);
  EXPECT_THAT(run.latencies_ms, Each(1.0));
  EXPECT_EQ(run.most_waiting, 0u);
  EXPECT_DOUBLE_EQ(run.seconds, 0.1);
  EXPECT_DOUBLE_EQ(run.utilisation, 1.0);
}

TEST(Simulation, LanesRunJobsOfDifferentUnitsAtTheSameTime) {
  const SimulatedLoad load{.in_flight = 4, .jobs = 100};
  EXPECT_DOUBLE_EQ(simulate({.times = &constant(), .lanes = 2, .units = 2}, load).seconds, 0.05);
  EXPECT_DOUBLE_EQ(simulate({.times = &constant(), .lanes = 2, .units = 1}, load).seconds, 0.1)
      << "a unit runs one job at a time";
}

// The M/D/1 queue: Poisson arrivals, one server, a constant time. At a load r the mean time in the
// system is the service time times 1 + r / (2 (1 - r)).
TEST(Simulation, HasTheMeanLatencyOfAnMD1Queue) {
  for (const double load : {0.3, 0.7}) {
    const SimulatedRun run = simulate({.times = &constant(), .depth = 1'000'000},
                                      {.per_second = load * 1'000, .jobs = 300'000, .seed = 5});
    EXPECT_NEAR(mean(run.latencies_ms), 1 + load / (2 * (1 - load)), 0.03) << load;
    EXPECT_NEAR(run.utilisation, load, 0.01);
  }
}

// The Erlang loss formula for one server: where no job waits, the share that is refused depends on
// the mean time alone; at a load r it is r / (1 + r).
TEST(Simulation, RefusesTheShareOfErlangsFormula) {
  const SimulatedRun run =
      simulate({.times = &constant(), .depth = 1, .on_full = cli::OnFull::kRefuse},
               {.per_second = 500, .jobs = 300'000, .seed = 3});
  EXPECT_NEAR(static_cast<double>(run.refused) / 300'000, 0.5 / 1.5, 0.005);
  EXPECT_THAT(run.latencies_ms, Each(1.0));
}

TEST(Simulation, ABlockedProgramLosesNothing) {
  const SimulatedRun run =
      simulate({.times = &constant(), .depth = 1},
               {.per_second = 2'000, .arrivals = cli::Arrivals::kEven, .jobs = 1'000});
  EXPECT_EQ(run.latencies_ms.size(), 1'000u);
  EXPECT_EQ(run.refused + run.dropped, 0u);
  EXPECT_NEAR(run.seconds, 1.0, 1e-9);
  EXPECT_NEAR(run.latencies_ms.back(), 1'000 - 999 * 0.5, 1e-6) << "from the arrival";
}

TEST(Simulation, TheOldestOfAFullQueueIsDropped) {
  const SimulatedRun run =
      simulate({.times = &constant(), .depth = 2, .on_full = cli::OnFull::kDropOldest},
               {.per_second = 10'000, .arrivals = cli::Arrivals::kEven, .jobs = 1'000});
  EXPECT_EQ(run.latencies_ms.size() + run.dropped, 1'000u);
  EXPECT_GT(run.dropped, 850u);
  for (const double latency : run.latencies_ms) EXPECT_LE(latency, 2.0);
}

TEST(Simulation, RanksWaitForTheSlowest) {
  const ServiceTimes times =
      ServiceTimes::from_quantiles({milliseconds(1), milliseconds(2)}).value();
  const SimulatedLoad load{.jobs = 20'000};
  EXPECT_NEAR(mean(simulate({.times = &times}, load).latencies_ms), 1.5, 0.01);
  EXPECT_NEAR(mean(simulate({.times = &times, .ranks = 3}, load).latencies_ms), 1.75, 0.01);
}

TEST(Simulation, IsTheSameForTheSameSeed) {
  const ServiceTimes times =
      ServiceTimes::from_mean_and_p99(milliseconds(1), milliseconds(3)).value();
  const SimulatedSystem system{.times = &times, .lanes = 2, .units = 3};
  const auto latencies = [&](uint64_t seed) {
    return simulate(system, {.per_second = 1'500, .jobs = 1'000, .seed = seed}).latencies_ms;
  };
  EXPECT_EQ(latencies(1), latencies(1));
  EXPECT_NE(latencies(1), latencies(2));
}

TEST(SimulationReport, HasALineForEachLoad) {
  const SimulatedSystem system{.times = &constant(), .lanes = 2, .units = 2};
  cli::SimulationReport report{.model = "net", .device = "board", .system = system, .lines = {}};
  for (const uint32_t in_flight : {1u, 4u}) {
    const SimulatedLoad load{.in_flight = in_flight, .jobs = 100};
    report.lines.push_back(cli::line_of(load, simulate(system, load)));
  }
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["model"], "net");
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][0]["per_second"], 1'000.0);
  EXPECT_EQ(json["runs"][1]["per_second"], 2'000.0);
  EXPECT_EQ(json["runs"][1]["latency_ms"]["median"], 2.0);
  EXPECT_THAT(report_text(report), ::testing::HasSubstr("4 in flight"));
  EXPECT_THAT(load_plot(report), ::testing::HasSubstr(">4 in flight<"));
}

}  // namespace
}  // namespace millrace::test
