// `millrace bench --url`: the load generator accounts for every request, whatever a server does.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "cli/bench/remote/name_lookup.h"
#include "cli/bench/remote/outcome.h"
#include "cli/bench/remote/remote_load.h"
#include "cli/bench/remote/remote_model.h"
#include "cli/bench/remote/remote_report.h"
#include "cli/bench/remote/remote_requests.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

using Requests = Result<std::vector<std::string>>;

class RemoteLoad : public Serve {
 protected:
  Requests requests(const cli::RequestData& data = {}) const {
    MILLRACE_ASSIGN_OR_RETURN(const auto server, cli::find_server(server_url_));
    MILLRACE_ASSIGN_OR_RETURN(const auto model, cli::describe(server, "tiny"));
    return cli::requests_for(server, model, data);
  }
  Result<cli::RemoteRun> load(const cli::RemoteLoad& load) {
    MILLRACE_ASSIGN_OR_RETURN(const auto server, cli::find_server(server_url_));
    MILLRACE_ASSIGN_OR_RETURN(const auto texts, requests());
    return cli::run_remote_load(server, texts, load);
  }
  void serve(const TinyModelOptions& model = {}) { server_url_ = start(model).url(); }

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
  EXPECT_EQ(run->refusal_ms.size(), run->refused);
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
  const auto unknown = cli::describe(*server, "nobody");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.status().message(), HasSubstr("there is no model \"nobody\""));
  stop();
  const auto gone = cli::describe(*server, "tiny");
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.status().message(), HasSubstr("cannot connect to 127.0.0.1:"));
  for (const char* const url : {"127.0.0.1:8080", "http://", "http://a:80/v2"})
    EXPECT_FALSE(cli::parse_url(url).ok()) << url;
  EXPECT_THAT(cli::parse_url("ftp://a:1").status().message(), HasSubstr("http://HOST:PORT"));
  EXPECT_FALSE(cli::parse_url("grpc://a").ok());
  EXPECT_EQ(cli::parse_url("https://a")->port, "443");
  EXPECT_EQ(cli::parse_url("grpcs://[::1]:8081")->scheme, "grpcs");
}

TEST(NameLookup, EndsWhenNobodyAnswers) {
  EXPECT_TRUE(cli::look_up("127.0.0.1", "80").ok());
  auto gate = std::make_shared<std::promise<void>>();
  const auto answer = cli::within(std::chrono::milliseconds(1), [gate] {
    gate->get_future().wait();
    return cli::look_up("127.0.0.1", "80");
  });
  gate->set_value();
  EXPECT_EQ(answer.status().code(), StatusCode::kDeadlineExceeded);
}

// Every frame of a file is a request of its own; a server that takes several frames gets one.
TEST_F(RemoteLoad, SendsTheDataOfFilesInTheShapesOfTheCommandLine) {
  serve({.batch_size = 4});
  const TemporaryDirectory directory;
  const std::string file = directory.file("two.bin");
  std::ofstream(file) << std::string(192, 'a') + std::string(192, 'b');
  const Requests sent = requests({.inputs = {file}});
  ASSERT_TRUE(sent.ok()) << sent.status().to_string();
  ASSERT_EQ(sent->size(), 2U);
  EXPECT_THAT(sent->front(), ::testing::EndsWith("}}" + std::string(192, 'a')));
  EXPECT_THAT(sent->back(), ::testing::EndsWith("}}" + std::string(192, 'b')));
  const Requests both = requests({.inputs = {file}, .shapes = {"data=2,3,4,4"}});
  ASSERT_TRUE(both.ok()) << both.status().to_string();
  EXPECT_EQ(both->size(), 1U);
  const auto run = cli::run_remote_load(*cli::find_server(server_url_), *both,
                                        {.scenario = cli::Scenario::kSingleStream, .jobs = 3});
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_EQ(run->served.size(), 3U) << run->first_failure;
  EXPECT_THAT(requests({.shapes = {"data=2,3,5,4"}}).status().message(), HasSubstr("shape"));
  EXPECT_FALSE(requests({.inputs = {directory.file("none.bin")}}).ok());
}

TEST_F(RemoteLoad, SendsAgainWhatIsRefused) {
  options_.queue_depth = 1;
  serve();
  faults().slow(std::chrono::milliseconds(5));
  cli::RemoteLoad wanted;
  wanted.scenario = cli::Scenario::kOffline;
  wanted.connections = 4;
  wanted.jobs = 30;
  wanted.retries = 1000;
  const auto run = load(wanted);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_EQ(run->served.size(), 30U) << run->first_failure;
  EXPECT_GT(run->retried, 0U);
}

TEST(RemoteOutcome, SaysWhatMayBeServedLater) {
  const auto answer = [](unsigned status) {
    return Result<cli::RemoteAnswer>({.status = status, .body = ""});
  };
  for (const unsigned status : {429U, 502U, 503U}) EXPECT_TRUE(cli::may_change(answer(status)));
  for (const unsigned status : {200U, 400U, 500U, 504U})
    EXPECT_FALSE(cli::may_change(answer(status))) << status;
  EXPECT_TRUE(cli::may_change(Status(StatusCode::kIoError, "the connection ended")));
  EXPECT_FALSE(cli::may_change(Status(StatusCode::kDeadlineExceeded, "it hangs")));
}

TEST_F(RemoteLoad, ComparesWithAnIdealQueueIfItKnowsTheServers) {
  serve();
  cli::RemoteLoad wanted;
  wanted.connections = 4;
  wanted.jobs = 50;
  wanted.per_second = 2000;
  EXPECT_FALSE(load(wanted)->ideal);
  wanted.servers = 2;
  const auto run = load(wanted);
  ASSERT_TRUE(run.ok() && run->ideal) << run.status().to_string();
  EXPECT_GT(run->ideal->service_ms, 0.0);
  EXPECT_GE(run->ideal->ideal_p99_ms, run->ideal->service_ms);
  EXPECT_EQ(run->requests(), 50U);
  EXPECT_THAT(
      cli::report_text({.url = "u", .model = "m", .version = "0", .load = wanted, .run = *run}),
      HasSubstr("2 servers, the times of requests sent alone"));
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
  const auto model = cli::describe(*server, "tiny");
  return model.ok() ? cli::requests_for(*server, *model, {}).status().message()
                    : model.status().message();
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
