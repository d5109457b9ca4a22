// The end of requests that do not simply succeed: late ones, abandoned ones, refused ones, failed
// ones, and those that a server still has when it ends.
#include <gmock/gmock.h>

#include <cstdlib>
#include <future>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

using Lifetime = Serve;

TEST_F(Lifetime, TheDeadlineOfARequestReachesItsJob) {
  start();
  HttpClient one = client();
  faults().hold();
  EXPECT_EQ(one.post(kInferPath, tiny_body(R"("timeout":2000)")).status, 504);
  EXPECT_EQ(one.post(kInferPath, tiny_body(), "X-Request-Timeout: 2ms\r\n").status, 504);
  EXPECT_EQ(one.post(kInferPath, tiny_body(), "X-Request-Timeout: 0.002\r\n").status, 504);
  EXPECT_EQ(one.post(kInferPath, tiny_body(), "X-Request-Timeout: soon\r\n").status, 400);
  EXPECT_THAT(one.get("/metrics").body, HasSubstr(R"(reason="late",version="1"} 3)"));
  EXPECT_EQ(served().in_flight(), 0U);
}

TEST_F(Lifetime, TheServerMayStateADeadline) {
  options_.request_seconds = 0.002;
  start();
  faults().hold();
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 504);
}

TEST_F(Lifetime, AClientThatGoesCancelsItsJob) {
  start();
  faults().hold();
  HttpClient running = client(), queued = client();
  running.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  queued.send(post_text(kInferPath, tiny_body()));
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 2; }));
  queued.close();
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 1; }));
  running.close();
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 0; }));
  ASSERT_TRUE(eventually([&] {
    return client().get("/metrics").body.find(R"(reason="cancelled",version="1"} 2)") !=
           std::string::npos;
  }));
}

TEST_F(Lifetime, AFullQueueRefuses) {
  options_.queue_depth = 1;
  start();
  faults().hold();
  HttpClient first = client();
  first.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  const HttpAnswer refused = client().post(kInferPath, tiny_body());
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.fields.at("retry-after"), "1");
  faults().release();
  EXPECT_EQ(first.receive().status, 200);
}

TEST_F(Lifetime, AFullQueueMayDropTheOldest) {
  options_.queue_depth = 2;
  options_.when_full = WhenFull::kDropOldest;
  start();
  faults().hold();
  HttpClient running = client(), oldest = client(), newest = client();
  running.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  oldest.send(post_text(kInferPath, tiny_body()));
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 2; }));
  newest.send(post_text(kInferPath, tiny_body()));
  EXPECT_EQ(oldest.receive().status, 429);
  faults().release();
  EXPECT_EQ(running.receive().status, 200);
  EXPECT_EQ(newest.receive().status, 200);
}

TEST_F(Lifetime, AFailedJobIsAnsweredAndTheNextOneRuns) {
  start();
  faults().fail_nth(1);
  HttpClient one = client();
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 500);
  ASSERT_TRUE(eventually([&] { return served().ready(); }));
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Lifetime, ADrainAnswersWhatWasAccepted) {
  serve::Server& server = start();
  faults().hold();
  HttpClient accepted = client(), other = client();
  EXPECT_EQ(other.get("/v2/health/ready").status, 200);
  accepted.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  ASSERT_TRUE(eventually([&] { return client().get("/v2/health/ready").status == 503; }));
  EXPECT_EQ(client().get("/v2/health/live").status, 200);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 503);
  faults().release();
  const HttpAnswer answer = accepted.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.fields.at("connection"), "close");
  EXPECT_TRUE(drained.get());
}

// Sends a header, and returns when the server has taken it.
void begin_request(HttpClient& client, const std::string& body) {
  EXPECT_EQ(client
                .ask("POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\nExpect: 100-continue\r\n\r\n")
                .status,
            100);
}

TEST_F(Lifetime, ADrainWaitsForABodyThatIsUnderWay) {
  serve::Server& server = start();
  HttpClient slow = client();
  begin_request(slow, tiny_body());
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  ASSERT_TRUE(eventually([&] { return client().get("/v2/health/ready").status == 503; }));
  EXPECT_EQ(slow.ask(tiny_body()).status, 200);
  EXPECT_TRUE(drained.get());
}

TEST_F(Lifetime, ADrainThatTakesTooLongEndsABodyThatIsUnderWay) {
  options_.drain_seconds = 0.02;
  serve::Server& server = start();
  HttpClient slow = client();
  begin_request(slow, tiny_body());
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  EXPECT_EQ(slow.receive().status, 503);
  EXPECT_FALSE(drained.get());
}

// With two lanes, at most four of which are replaced, the sixth job that hangs takes the last one.
TEST_F(Lifetime, AModelWhoseJobsHangRecovers) {
  constexpr uint64_t kHangs = 6;
  ::setenv("MILLRACE_WATCHDOG", "10ms", 1);
  start();
  ::unsetenv("MILLRACE_WATCHDOG");
  for (uint64_t n = 1; n <= kHangs; ++n) faults().hang_nth(n);
  HttpClient one = client();
  ASSERT_TRUE(eventually([&] {
    one.post(kInferPath, tiny_body());
    return faults().counts().hangs == kHangs;
  }));
  ASSERT_TRUE(eventually([&] { return one.get("/v2/models/tiny/ready").status == 503; }));
  EXPECT_EQ(one.get("/v2/health/ready").status, 503);
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 503);
  faults().end_hangs();
  ASSERT_TRUE(eventually([&] { return one.get("/v2/models/tiny/ready").status == 200; }));
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Lifetime, AModelThatIsReplacedIsReleasedAlthoughAJobOfItHung) {
  options_.model_control = true;
  ::setenv("MILLRACE_WATCHDOG", "10ms", 1);
  start();
  ::unsetenv("MILLRACE_WATCHDOG");
  faults().hang_nth(1);
  HttpClient one = client();
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 500);
  const std::weak_ptr<serve::ServedModel> old = served().weak_from_this();
  EXPECT_EQ(one.post("/v2/repository/models/tiny/load", "").status, 200);
  EXPECT_TRUE(eventually([&] { return old.expired(); }));
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 200);
  faults().end_hangs();
}

TEST_F(Lifetime, ADrainThatTakesTooLongCancels) {
  options_.drain_seconds = 0.02;
  serve::Server& server = start();
  faults().hold();
  HttpClient running = client(), queued = client();
  running.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  queued.send(post_text(kInferPath, tiny_body()));
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 2; }));
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  EXPECT_EQ(queued.receive().status, 503);
  EXPECT_EQ(running.receive().status, 503);
  EXPECT_FALSE(drained.get());
}

}  // namespace
}  // namespace millrace::test
