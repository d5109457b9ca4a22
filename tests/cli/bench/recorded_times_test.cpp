// The logs of devices from which a profile of their pace is made.
#include "cli/pace/recorded_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using cli::add_recorded_times;
using cli::RecordedModels;
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
  RecordedModels models;
  const std::string trace = R"({"events": [)" + event("stop", 1, 50) + "," +
                            event("start", 2, 100) + "," + event("start", 3, 150, "nc_read") + "," +
                            event("start", 4, 200) + "," + event("stop", 2, 400) + "," +
                            event("stop", 4, 900) + "," + event("start", 5, 950) + "]}";
  ASSERT_TRUE(add_recorded_times(trace, models).ok());
  EXPECT_THAT(models.at("net").samples, ElementsAre(nanoseconds(300), nanoseconds(700)));
  ASSERT_TRUE(add_recorded_times(trace, models).ok()) << "several logs are added up";
  EXPECT_EQ(models.at("net").samples.size(), 4u);
}

TEST(RecordedTimes, OfAVartProfileAreTotals) {
  RecordedModels models;
  ASSERT_TRUE(
      add_recorded_times(R"({"model": "net", "jobs": 2, "frames": 4, "execute_us": 10.0})", models)
          .ok());
  EXPECT_EQ(models.at("net").frames, 4u);
  EXPECT_EQ(models.at("net").total, microseconds(10));
}

TEST(RecordedTimes, RefuseOtherFiles) {
  const auto complaint = [](const char* text) {
    RecordedModels models;
    const Status status = add_recorded_times(text, models);
    EXPECT_TRUE(models.empty());
    return status.message();
  };
  EXPECT_THAT(complaint("{"), HasSubstr("not a log"));
  EXPECT_THAT(complaint("[]"), HasSubstr("neither"));
  EXPECT_THAT(complaint(R"({"events": []})"), HasSubstr("no job"));
  EXPECT_THAT(complaint(R"({"events": [{"event_type": 3}]})"), HasSubstr("no job"));
  EXPECT_THAT(complaint(R"({"events": [{}]})"), HasSubstr("not a log"));
  EXPECT_THAT(complaint(R"({"model": "net", "jobs": 0, "execute_us": 0})"), HasSubstr("no job"));
}

}  // namespace
}  // namespace millrace::test
