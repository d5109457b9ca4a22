// The JSON of a timeline, as Perfetto reads it.
#include "timeline/chrome_trace.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace millrace::timeline {
namespace {

using nlohmann::json;
using queue::sequence_of;

Job job_that_ran() {
  return {.id = sequence_of(3, 17),
          .submitted_ns = 1'500,
          .started_ns = 2'750,
          .completed_ns = 12'250,
          .submitter = 10,
          .runner = 20,
          .lane = 4,
          .row = 0,
          .status = StatusCode::kDeviceFailed,
          .phases = {{name_id("Conv \"first\""), 3'000, 12'250}}};
}

Timeline timeline_with(std::vector<Job> jobs) {
  Timeline timeline;
  timeline.begin_ns = 1'000;
  timeline.end_ns = 100'000;
  timeline.jobs = std::move(jobs);
  timeline.rows = {{"lane 4", 4}};
  timeline.threads = {{10, "program"}, {20, "millrace-lane"}};
  return timeline;
}

std::vector<json> events(const Timeline& timeline, const std::string& phase,
                         const std::string& category) {
  const json trace = json::parse(chrome_trace(timeline));
  std::vector<json> found;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == phase && event.value("cat", "") == category) found.push_back(event);
  return found;
}

TEST(ChromeTrace, JobIsASliceWithTimesInMicroseconds) {
  const auto slices = events(timeline_with({job_that_ran()}), "X", "job");
  ASSERT_EQ(slices.size(), 1u);
  const json& slice = slices[0];
  EXPECT_EQ(slice["name"], "job 3:17");
  EXPECT_DOUBLE_EQ(slice["ts"], 1.75);
  EXPECT_DOUBLE_EQ(slice["dur"], 9.5);
  EXPECT_EQ(slice["args"]["status"], "DEVICE_FAILED");
  EXPECT_EQ(slice["args"]["unit"], 3);
  EXPECT_EQ(slice["args"]["number"], 17);
  EXPECT_EQ(slice["args"]["lane"], 4);
  EXPECT_EQ(slice["args"]["id"], "0x3000000000011");
  EXPECT_DOUBLE_EQ(slice["args"]["waited_us"], 1.25);
}

TEST(ChromeTrace, ArrowLeadsFromTheSubmitToTheRun) {
  const Timeline timeline = timeline_with({job_that_ran()});
  const auto submits = events(timeline, "X", "submit");
  const auto begins = events(timeline, "s", "submit");
  const auto ends = events(timeline, "f", "submit");
  ASSERT_EQ(submits.size(), 1u);
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_EQ(begins[0]["tid"], submits[0]["tid"]);
  EXPECT_EQ(begins[0]["ts"], submits[0]["ts"]);
  EXPECT_EQ(ends[0]["bp"], "e");
  const auto slices = events(timeline, "X", "job");
  EXPECT_EQ(ends[0]["ts"], slices[0]["ts"]);
  EXPECT_EQ(ends[0]["pid"], slices[0]["pid"]);
  EXPECT_EQ(ends[0]["tid"], slices[0]["tid"]);
}

TEST(ChromeTrace, PhasesLieWithinTheJob) {
  const auto phases = events(timeline_with({job_that_ran()}), "X", "phase");
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0]["name"], "Conv \"first\"");
  EXPECT_DOUBLE_EQ(phases[0]["ts"], 2.0);
  EXPECT_DOUBLE_EQ(phases[0]["dur"], 9.25);
}

TEST(ChromeTrace, RunningJobLastsUntilTheEndOfTheRecording) {
  Job job = job_that_ran();
  job.completed_ns = 0;
  job.status = StatusCode::kPending;
  const auto slices = events(timeline_with({job}), "X", "job");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_DOUBLE_EQ(slices[0]["dur"], 97.25);
  EXPECT_EQ(slices[0]["args"]["status"], "PENDING");
}

TEST(ChromeTrace, JobThatNeverRanIsAnInstantOfItsUnit) {
  Job job = job_that_ran();
  job.started_ns = 0;
  job.phases.clear();
  job.status = StatusCode::kCancelled;
  const Timeline timeline = timeline_with({job});
  EXPECT_TRUE(events(timeline, "X", "job").empty());
  const auto instants = events(timeline, "i", "not_run");
  ASSERT_EQ(instants.size(), 1u);
  EXPECT_EQ(instants[0]["tid"], 3);
  EXPECT_EQ(instants[0]["args"]["status"], "CANCELLED");
}

TEST(ChromeTrace, CountsTheJobsThatWait) {
  Job first = job_that_ran(), second = job_that_ran();
  second.id = sequence_of(3, 18);
  second.submitted_ns = 2'000;
  second.started_ns = second.completed_ns = 0;
  std::vector<int> waiting;
  for (const json& counter : events(timeline_with({first, second}), "C", "waiting"))
    waiting.push_back(counter["args"]["jobs"]);
  EXPECT_EQ(waiting, (std::vector{1, 2, 1}));
}

TEST(ChromeTrace, ProcessesAndTracksHaveNames) {
  const json trace = json::parse(chrome_trace(timeline_with({job_that_ran()})));
  std::vector<std::string> names;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "M" && event["args"].contains("name"))
      names.push_back(event["args"]["name"]);
  EXPECT_THAT(names,
              testing::IsSupersetOf({"host threads", "lanes", "units", "lane 4", "program 10"}));
  EXPECT_EQ(trace["displayTimeUnit"], "ns");
}

TEST(ChromeTrace, InstantsSayWhatHappened) {
  Timeline timeline = timeline_with({});
  timeline.marks = {{.time_ns = 2'000,
                     .subject = sequence_of(3, 17),
                     .detail = named_number(name_id("slow"), 6),
                     .thread = 20,
                     .point = HookPoint::kInjected},
                    {.time_ns = 3'000,
                     .subject = 0x1000,
                     .detail = 1,
                     .thread = 10,
                     .point = HookPoint::kBufferSynced},
                    {.time_ns = 4'000,
                     .subject = 0,
                     .detail = static_cast<uint64_t>(StatusCode::kQueueFull),
                     .thread = 10,
                     .point = HookPoint::kRefused}};
  const auto faults = events(timeline, "i", "fault");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0]["args"]["job"], "3:17");
  EXPECT_EQ(faults[0]["args"]["number"], 6);
  EXPECT_EQ(faults[0]["args"]["kind"], "slow");
  const auto syncs = events(timeline, "i", "sync");
  ASSERT_EQ(syncs.size(), 1u);
  EXPECT_EQ(syncs[0]["name"], "sync to host");
  EXPECT_EQ(syncs[0]["args"]["address"], "0x1000");
  const auto refusals = events(timeline, "i", "refused");
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0]["args"]["status"], "QUEUE_FULL");
}

TEST(ChromeTrace, ExchangesAreOnTracksOfTheirRanks) {
  const auto exchange = [](const char* names, int64_t begin_ns, int64_t end_ns) {
    return Exchange{.id = named_number(name_id(names), 1),
                    .bytes = 4096,
                    .thread = 20,
                    .job = sequence_of(3, 17),
                    .begin_ns = begin_ns,
                    .end_ns = end_ns,
                    .status = end_ns == 0 ? StatusCode::kPending : StatusCode::kOk};
  };
  Timeline timeline = timeline_with({});
  EXPECT_EQ(json::parse(chrome_trace(timeline))["otherData"]["ranks"], json::array());
  timeline.exchanges = {exchange("all_reduce\nrank 1 of 0, 1", 2'000, 4'000),
                        exchange("all_gather\nrank 1 of 0, 1", 3'000, 5'000),
                        exchange("send\ncore 0 to core 1 of 10.0.0.2", 4'000, 0),
                        exchange("all_reduce\nrank 1 of 0, 1", 4'000, 6'000)};
  const auto slices = events(timeline, "X", "exchange");
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[0]["name"], "all_reduce");
  EXPECT_EQ(slices[0]["args"]["ranks"], "rank 1 of 0, 1");
  EXPECT_EQ(slices[0]["args"]["bytes"], 4096);
  EXPECT_EQ(slices[0]["args"]["job"], "3:17");
  EXPECT_DOUBLE_EQ(slices[0]["dur"], 2.0);
  EXPECT_NE(slices[0]["tid"], slices[1]["tid"]) << "they overlap";
  EXPECT_NE(slices[0]["tid"], slices[2]["tid"]) << "they are between others";
  EXPECT_EQ(slices[0]["tid"], slices[3]["tid"]);
  EXPECT_DOUBLE_EQ(slices[2]["dur"], 96.0) << "until the end of the recording";
  EXPECT_EQ(json::parse(chrome_trace(timeline))["otherData"]["ranks"], json::array({"1"}));
}

TEST(ChromeTrace, SaysHowManyEventsWereDropped) {
  Timeline timeline = timeline_with({});
  timeline.dropped = 5;
  EXPECT_EQ(json::parse(chrome_trace(timeline))["otherData"]["dropped_events"], 5);
}

}  // namespace
}  // namespace millrace::timeline
