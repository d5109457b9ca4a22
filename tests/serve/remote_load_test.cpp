// `millrace bench --url`: the load generator accounts for every request, whatever a server does.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "cli/bench/remote/remote_load.h"
#include "cli/bench/remote/remote_model.h"
#include "cli/bench/remote/remote_report.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class RemoteLoad : public Serve {
 protected:
  Result<cli::RemoteRun> load(const cli::RemoteLoad& load) {
    const auto server = cli::find_server(server_url_);
    EXPECT_TRUE(server.ok()) << server.status().to_string();
    const auto request = cli::request_for(*server, "tiny");
    EXPECT_TRUE(request.ok()) << request.status().to_string();
    return cli::run_remote_load(*server, *request, load);
  }
  void serve() { server_url_ = start().url(); }

  std::string server_url_;
};

TEST_F(RemoteLoad, CountsEachServedRequestOfEachScenario) {
  serve();
  for (const cli::Scenario scenario :
       {cli::Scenario::kSingleStream, cli::Scenario::kOffline, cli::Scenario::kServer}) {
    cli::RemoteLoad wanted;
    wanted.scenario = scenario;
    wanted.connections = scenario == cli::Scenario::kSingleStream ? 1 : 4;
    wanted.jobs = 50;
    wanted.per_second = 2000;
    const auto run = load(wanted);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_EQ(run->served.size(), 50U) << run->first_failure;
    EXPECT_EQ(run->requests(), 50U);
    // The request before the others is not counted.
    EXPECT_TRUE(eventually([&] { return served().in_flight() == 0; }));
  }
}

TEST_F(RemoteLoad, CountsRefusedRequestsApart) {
  options_.queue_depth = 1;
  serve();
  faults().slow(std::chrono::milliseconds(5));
  cli::RemoteLoad wanted;
  wanted.connections = 8;
  wanted.jobs = 60;
  wanted.per_second = 5000;
  const auto run = load(wanted);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_EQ(run->requests(), 60U);
  EXPECT_GT(run->refused, 0U);
  EXPECT_EQ(run->failed, 0U) << run->first_failure;
}

// Ten requests that are due within some 10 ms wait for the one connection.
TEST_F(RemoteLoad, CountsLatenciesFromTheScheduledArrival) {
  serve();
  faults().slow(std::chrono::milliseconds(20));
  cli::RemoteLoad wanted;
  wanted.jobs = 10;
  wanted.per_second = 1000;
  const auto run = load(wanted);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  ASSERT_EQ(run->served.size(), 10U) << run->first_failure;
  const auto latency = std::ranges::max(run->served, {}, &cli::Query::latency_ns).latency_ns;
  EXPECT_GE(latency, 100'000'000);
  EXPECT_GE(run->seconds, 0.2);
}

TEST_F(RemoteLoad, EndsWhenTheUserWants) {
  serve();
  std::atomic<bool> ended = false;
  cli::RemoteLoad wanted;
  wanted.connections = 4;
  wanted.jobs = 100'000;
  wanted.per_second = 50;
  wanted.ended = &ended;
  std::jthread user([&] {
    EXPECT_TRUE(eventually([&] {
      return client().get("/metrics").body.find(R"(requests_total{code="200",model="tiny")") !=
             std::string::npos;
    }));
    ended = true;
  });
  const auto run = load(wanted);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_LT(run->requests(), wanted.jobs);
}

TEST_F(RemoteLoad, SaysWhatIsWrong) {
  serve();
  const auto server = cli::find_server(server_url_);
  ASSERT_TRUE(server.ok());
  const auto unknown = cli::request_for(*server, "nobody");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.status().message(), HasSubstr("there is no model \"nobody\""));
  stop();
  const auto gone = cli::request_for(*server, "tiny");
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.status().message(), HasSubstr("cannot connect to 127.0.0.1:"));
  for (const char* const url : {"127.0.0.1:8080", "https://a", "http://", "http://a:80/v2"})
    EXPECT_FALSE(cli::find_server(url).ok()) << url;
}

// Answers one request with a text, whatever it is.
std::string error_after(const std::string& answer) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  std::jthread thread([&] {
    auto socket = acceptor.accept();
    std::string read(4096, '\0');
    socket.read_some(boost::asio::buffer(read));
    socket.write_some(boost::asio::buffer(answer));
  });
  const auto server =
      cli::find_server("http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()));
  return cli::request_for(*server, "tiny").status().message();
}

TEST(RemoteModel, RefusesMalformedAnswers) {
  EXPECT_THAT(error_after("this is no HTTP\r\n\r\n"), HasSubstr("cannot read an answer"));
  const auto with_body = [](const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  EXPECT_THAT(error_after(with_body("{")), HasSubstr("not the protocol's"));
  EXPECT_THAT(error_after(with_body(R"({"inputs":[{"name":7}]})")),
              HasSubstr("not the protocol's"));
  EXPECT_THAT(error_after(with_body(
                  R"({"inputs":[{"name":"a","datatype":"FP32","shape":[1000000,1000000]}]})")),
              HasSubstr("larger than 1 GiB"));
}

TEST(RemoteReport, SaysWhatBecameOfEachRequest) {
  cli::RemoteReport report;
  report.run.served = {{0, 2'000'000}};
  report.run.refused = 3;
  report.run.seconds = 1;
  EXPECT_THAT(cli::report_text(report), HasSubstr("4: 1 served, 3 refused, 0 late, 0 failed"));
  EXPECT_THAT(cli::report_json(report), HasSubstr(R"("refused":3)"));
}

}  // namespace
}  // namespace millrace::test
