// The HTML page of a trace: it holds the trace, and needs nothing else.
#include "timeline/page.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

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

TEST(Page, OtherTextHasNoTrace) {
  EXPECT_EQ(trace_in("{\"traceEvents\": []}"), "");
}

}  // namespace
}  // namespace millrace::timeline
