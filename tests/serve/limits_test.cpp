// A client cannot take the server's time, its connections or its memory.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using Limits = Serve;

TEST_F(Limits, ABodyMustArriveInTime) {
  options_.http.body_seconds = 0.05;
  start();
  HttpClient slow = client();
  slow.send("POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_TRUE(slow.is_closed());
}

TEST_F(Limits, AHeaderMustArriveInTime) {
  options_.http.header_seconds = 0.05;
  start();
  HttpClient slow = client();
  slow.send("GET /v2 HT");
  EXPECT_TRUE(slow.is_closed());
}

TEST_F(Limits, AnIdleConnectionIsClosed) {
  options_.http.idle_seconds = 0.05;
  start();
  HttpClient idle = client();
  EXPECT_EQ(idle.get("/v2").status, 200);
  EXPECT_TRUE(idle.is_closed());
}

TEST_F(Limits, ConnectionsBeyondTheLimitAreTurnedAway) {
  options_.http.connections = 1;
  start();
  HttpClient first = client();
  EXPECT_EQ(first.get("/v2").status, 200);
  EXPECT_EQ(client().receive().status, 503);
  first.close();
  EXPECT_TRUE(eventually([&] { return client().get("/v2").status == 200; }));
}

// The server answers without having read the body, which never comes.
TEST_F(Limits, AHugeBodyIsRefusedBeforeItIsRead) {
  start();
  HttpClient one = client();
  const HttpAnswer answer =
      one.ask("POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: 1099511627776\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.fields.at("connection"), "close");
}

// Only what has arrived counts. The first answer says that the header has been read.
TEST_F(Limits, BodiesTogetherHaveALimit) {
  options_.http.all_bodies_bytes = 1000;
  start();
  HttpClient slow = client();
  EXPECT_EQ(slow.ask("POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: 1000\r\n"
                     "Expect: 100-continue\r\n\r\n")
                .status,
            100);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 200);
  slow.send(std::string(999, ' '));
  ASSERT_TRUE(eventually([&] { return client().post(kInferPath, tiny_body()).status == 503; }));
  slow.close();
  ASSERT_TRUE(eventually([&] { return client().post(kInferPath, tiny_body()).status == 200; }));
}

TEST_F(Limits, OnlyInferenceTakesLongBodies) {
  start();
  for (const char* call : {"GET /v2/health/live", "POST /v2/repository/index"}) {
    const std::string line = std::string(call) + " HTTP/1.1\r\n";
    EXPECT_EQ(client().ask(line + "Content-Length: 65537\r\n\r\n").status, 413);
    EXPECT_EQ(client().ask(line + "Transfer-Encoding: chunked\r\n\r\n").status, 411);
    EXPECT_EQ(client().ask(line + "Content-Length: 2\r\n\r\n{}").status, 200);
  }
}

TEST_F(Limits, ABodyThatOutgrowsItsMemoryArrivesWhole) {
  start();
  const std::string spaces(size_t{9} << 20, ' ');
  EXPECT_EQ(client().post(kInferPath, spaces + tiny_body() + spaces).status, 200);
}

TEST_F(Limits, RefusedRequestsAreCounted) {
  options_.http.body_bytes = 1000;
  options_.http.header_seconds = 0.05;
  start();
  EXPECT_EQ(client().post(kInferPath, std::string(1001, ' ')).status, 413);
  EXPECT_EQ(client().ask("GET /v2 HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n").status,
            431);
  HttpClient slow = client();
  slow.send("GET /v2 HT");
  EXPECT_TRUE(slow.is_closed());
  const std::string metrics = client().get("/metrics").body;
  EXPECT_THAT(metrics, ::testing::HasSubstr(R"({code="413",model="tiny",version="1"} 1)"));
  for (const char* code : {"431", "408"})
    EXPECT_THAT(metrics, ::testing::HasSubstr(
                             fmt::format("{{code=\"{}\",model=\"\",version=\"\"}} 1", code)));
}

TEST_F(Limits, TheMemoryForAnOpenOutputFollowsWhatItTakes) {
  start();
  served().took_bytes(0, 1 << 20);
  EXPECT_EQ(served().expected_bytes(0), size_t{1} << 20);
  for (int i = 0; i < 100; ++i) served().took_bytes(0, 1000);
  EXPECT_EQ(served().expected_bytes(0), 1000U);
}

TEST_F(Limits, ConnectionsThatAreTurnedAwayAreCounted) {
  options_.http.connections = 1;
  start();
  HttpClient first = client();
  EXPECT_EQ(first.get("/v2").status, 200);
  EXPECT_EQ(client().receive().status, 503);
  EXPECT_THAT(first.get("/metrics").body,
              ::testing::HasSubstr(R"(millrace_requests_total{code="503",model="",version=""} 1)"));
}

TEST_F(Limits, AddressesAndNamesAreChecked) {
  options_.models.push_back(options_.models[0]);
  ASSERT_TRUE(write_tiny_model(options_.models[0]).ok());
  EXPECT_THAT(serve::Server::start(options_).status().message(),
              ::testing::HasSubstr("another model \"tiny\" of version 1"));
  options_.models.pop_back();
  options_.address = "localhost";
  EXPECT_THAT(serve::Server::start(options_).status().message(),
              ::testing::HasSubstr("\"localhost\" is no IP address"));
}

}  // namespace
}  // namespace millrace::test
