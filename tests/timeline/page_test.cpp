// The HTML page of a trace: it holds the trace, and needs nothing else.
#include "timeline/page.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "timeline/chrome_trace.h"

namespace millrace::timeline {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Page, HoldsTheTrace) {
  const json trace = {{"traceEvents", {{{"name", "job 3:17"}, {"ts", 1.25}}}}};
  EXPECT_EQ(json::parse(trace_in(page_of(trace.dump()))), trace);
}

TEST(Page, TextsOfTheTraceCannotEndItsElement) {
  const json trace = {{"name", "</script><script>alert(1)</script>@SCRIPT@ \\ \" &lt;"}};
  const std::string page = page_of(trace.dump());
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(json::parse(trace_in(page)), trace);
}

TEST(Page, IsSelfContained) {
  const std::string page = page_of("{}");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("function readTrace("));
  EXPECT_THAT(page, HasSubstr("function draw()"));
  for (const char* other :
       {"http://", "https://", "src=", "href=", "@import", "@SCRIPT@", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(other)));
}

// The memory of a long recording must not hold its text as well.
TEST(Page, IsWrittenPieceByPiece) {
  Timeline timeline;
  timeline.rows = {{"lane 0", 0}};
  for (uint64_t number = 1; number <= 2000; ++number)
    timeline.jobs.push_back({.id = queue::sequence_of(1, number),
                             .submitted_ns = 1,
                             .started_ns = 2,
                             .completed_ns = 3,
                             .status = StatusCode::kOk,
                             .phases = {}});
  const auto trace = [&](const TextSink& sink) { return write_chrome_trace(timeline, sink); };
  std::string whole;
  size_t largest = 0;
  const Status written = write_page(trace, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    whole += piece;
    return Status();
  });
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(whole, page_of(chrome_trace(timeline)));
  EXPECT_GT(whole.size(), size_t{1} << 20);
  EXPECT_LT(largest, size_t{128} << 10);
}

TEST(Page, FailsWithItsSink) {
  int pieces = 0;
  const Status written =
      write_page([](const TextSink& sink) { return sink("{}"); },
                 [&](std::string_view) {
                   return ++pieces == 2 ? Status(StatusCode::kIoError, "full") : Status();
                 });
  EXPECT_EQ(written.code(), StatusCode::kIoError);
  EXPECT_EQ(pieces, 2) << "nothing is written after a failure";
}

TEST(Page, OtherTextHasNoTrace) {
  EXPECT_EQ(trace_in("{\"traceEvents\": []}"), "");
}

}  // namespace
}  // namespace millrace::timeline
