// The logs of devices from which a profile of their pace is made.
#include "cli/pace/recorded_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using cli::add_recorded_times;
using cli::RecordedLogs;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string event(const char* phase, int id, int64_t at_ns, const char* type = "nc_exec_running") {
  return std::string(R"({"event_type": ")") + type + R"(", "phase": ")" + phase +
         R"(", "tracking_id": )" + std::to_string(id) + R"(, "timestamp_ns": )" +
         std::to_string(at_ns) + R"(, "thread_id": 1, "data": {"model": "net"}})";
}

TEST(RecordedTimes, OfASystemTraceAreThoseOfItsExecutions) {
  RecordedLogs logs;
  const std::string trace = R"({"events": [)" + event("stop", 1, 50) + "," +
                            event("start", 2, 100) + "," + event("start", 3, 150, "nc_read") + "," +
                            event("start", 4, 200) + "," + event("stop", 2, 400) + "," +
                            event("stop", 4, 900) + "," + event("start", 5, 950) + "]}";
  ASSERT_TRUE(add_recorded_times(trace, logs).ok());
  EXPECT_THAT(logs.models.at("net").samples, ElementsAre(nanoseconds(300), nanoseconds(700)));
  ASSERT_TRUE(add_recorded_times(trace, logs).ok()) << "several logs are added up";
  EXPECT_EQ(logs.models.at("net").samples.size(), 4u);
}

TEST(RecordedTimes, OfAVartProfileAreTotals) {
  RecordedLogs logs;
  ASSERT_TRUE(
      add_recorded_times(R"({"model": "net", "jobs": 2, "frames": 4, "execute_us": 10.0})", logs)
          .ok());
  EXPECT_EQ(logs.models.at("net").frames, 4u);
  EXPECT_EQ(logs.models.at("net").total, microseconds(10));
}

TEST(RecordedTimes, OfAVartProfileHaveItsOperators) {
  RecordedLogs logs;
  const std::string profile = R"({"model": "net", "frames": 4, "execute_us": 100, "entries": [
      {"kind": "inputs", "total_us": 4}, {"kind": "operator", "node": "conv", "total_us": 60},
      {"kind": "operator", "node": "", "total_us": 8}, {"kind": "operator", "node": "relu",
      "total_us": 20}, {"kind": "operator", "node": "conv", "total_us": 2}]})";
  ASSERT_TRUE(add_recorded_times(profile, logs).ok());
  const cli::RecordedTimes& times = logs.models.at("net");
  EXPECT_EQ(times.operator_frames, 4u);
  EXPECT_THAT(times.operators, ElementsAre(std::pair("conv", microseconds(62)),
                                           std::pair("relu", microseconds(20))));
}

TEST(RecordedTimes, OfAModelProfileOfNrtAreThoseOfItsTracks) {
  RecordedLogs logs;
  const auto track = [](int number, const char* name) {
    return R"({"ph": "M", "name": "thread_name", "pid": 1, "tid": )" + std::to_string(number) +
           R"(, "args": {"name": ")" + name + "\"}},";
  };
  const auto slice = [](int number, const char* name, int us) {
    return R"({"ph": "X", "name": ")" + std::string(name) + R"(", "tid": )" +
           std::to_string(number) + R"(, "dur": )" + std::to_string(us) + "},";
  };
  std::string events = track(1, "executions") + track(2, "operators");
  for (int i = 1; i <= 2; ++i)
    events += slice(1, "net", 100 * i) + slice(2, "inputs", 5) + slice(2, "conv", 70 * i) +
              slice(2, "outputs", 5);
  events.pop_back();
  ASSERT_TRUE(add_recorded_times("{\"traceEvents\": [" + events + "]}", logs).ok());
  const cli::RecordedTimes& times = logs.models.at("net");
  EXPECT_THAT(times.samples, ElementsAre(microseconds(100), microseconds(200)));
  EXPECT_THAT(times.operators, ElementsAre(std::pair("conv", microseconds(210))));
  EXPECT_EQ(times.operator_frames, 2u);
}

TEST(RecordedTimes, OfTransfersAreAFixedTimeAndABandwidth) {
  const auto transfer = [](int id, int64_t at_ns, int64_t ns, uint64_t bytes) {
    const auto moment = [&](const char* phase, int64_t time_ns) {
      return R"({"event_type": "tensor_write_running", "phase": ")" + std::string(phase) +
             R"(", "tracking_id": )" + std::to_string(id) + R"(, "timestamp_ns": )" +
             std::to_string(time_ns) + R"(, "data": {"bytes": )" + std::to_string(bytes) + "}}";
    };
    return moment("start", at_ns) + "," + moment("stop", at_ns + ns);
  };
  RecordedLogs logs;
  // 5 us and 4 bytes per nanosecond.
  ASSERT_TRUE(add_recorded_times("{\"events\": [" + transfer(1, 100, 6'000, 4'000) + "," +
                                     transfer(2, 9'000, 7'000, 8'000) + "," +
                                     transfer(3, 20'000, 15'000, 40'000) + "]}",
                                 logs)
                  .ok());
  const auto pace = logs.transfers.pace().value();
  EXPECT_EQ(pace.fixed, microseconds(5));
  EXPECT_NEAR(pace.bytes_per_second, 4e9, 1);
  RecordedLogs alike;
  ASSERT_TRUE(
      add_recorded_times("{\"events\": [" + transfer(1, 100, 1'000, 4'000) + "]}", alike).ok());
  EXPECT_EQ(alike.transfers.pace()->fixed, nanoseconds(0));
  EXPECT_NEAR(alike.transfers.pace()->bytes_per_second, 4e9, 1);
  EXPECT_FALSE(RecordedLogs().transfers.pace());
}

TEST(RecordedTimes, RefuseOtherFiles) {
  const auto complaint = [](const char* text) {
    RecordedLogs logs;
    const Status status = add_recorded_times(text, logs);
    EXPECT_TRUE(logs.models.empty());
    return status.message();
  };
  EXPECT_THAT(complaint("{"), HasSubstr("not a log"));
  EXPECT_THAT(complaint("[]"), HasSubstr("neither"));
  EXPECT_THAT(complaint(R"({"events": []})"), HasSubstr("no job"));
  EXPECT_THAT(complaint(R"({"traceEvents": []})"), HasSubstr("no tracks of executions"));
  EXPECT_THAT(complaint(R"({"events": [{"event_type": 3}]})"), HasSubstr("no job"));
  EXPECT_THAT(complaint(R"({"events": [{}]})"), HasSubstr("not a log"));
  EXPECT_THAT(complaint(R"({"model": "net", "jobs": 0, "execute_us": 0})"), HasSubstr("no job"));
}

}  // namespace
}  // namespace millrace::test
