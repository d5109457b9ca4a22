// A client cannot take the server's time, its connections or its memory.
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

TEST_F(Limits, BodiesTogetherHaveALimit) {
  options_.http.all_bodies_bytes = 1000;
  start();
  HttpClient slow = client();
  slow.send("POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: 900\r\n\r\n{");
  ASSERT_TRUE(eventually([&] { return client().post(kInferPath, tiny_body()).status == 503; }));
  slow.close();
  ASSERT_TRUE(eventually([&] { return client().post(kInferPath, tiny_body()).status == 200; }));
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
