// `millrace bench --url` over gRPC and TLS.
#include <gmock/gmock.h>

#include <string>

#include "cli/bench/remote/remote_arguments.h"
#include "cli/bench/remote/remote_load.h"
#include "cli/bench/remote/remote_model.h"
#include "cli/bench/remote/remote_requests.h"
#include "cli/load/protocol_of.h"
#include "tests/serve/certificates.h"
#include "tests/serve/grpc_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class LoadProtocols : public GrpcServe {
 protected:
  // Encrypts, and names the server in its own certificate.
  void encrypt() {
    const Identity own = authority_.issue();
    options_.tls.certificate = write_text(files_.file("server.pem"), own.certificate);
    options_.tls.key = write_text(files_.file("server.key"), own.key);
    ca_ = write_text(files_.file("ca.pem"), authority_.certificate());
  }

  Result<cli::RemoteRun> load(const std::string& scheme, uint16_t port) {
    const std::string url = scheme + "://127.0.0.1:" + std::to_string(port);
    MILLRACE_ASSIGN_OR_RETURN(cli::RemoteServer server, cli::find_server(url));
    MILLRACE_ASSIGN_OR_RETURN(server.protocol, cli::protocol_of(url, ca_));
    MILLRACE_ASSIGN_OR_RETURN(const auto model, cli::describe(server, "tiny"));
    MILLRACE_ASSIGN_OR_RETURN(const auto requests, cli::requests_for(server, model, {}));
    cli::RemoteLoad wanted;
    wanted.scenario = cli::Scenario::kOffline;
    wanted.connections = 4;
    wanted.jobs = 40;
    return cli::run_remote_load(server, requests, wanted);
  }
  static void expect_all_served(const Result<cli::RemoteRun>& run) {
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_EQ(run->served.size(), 40U) << run->first_failure;
    EXPECT_EQ(run->requests(), 40U);
  }

  const Authority authority_;
  const TemporaryDirectory files_;
  std::string ca_;
};

TEST_F(LoadProtocols, RequestsAreServedOverGrpc) {
  const uint16_t port = start().grpc_port();
  expect_all_served(load("grpc", port));
  EXPECT_TRUE(counts(R"(millrace_requests_total{code="200",model="tiny",version="1"} 41)"));
}

TEST_F(LoadProtocols, RefusedRequestsOfGrpcAreCountedApart) {
  options_.queue_depth = 1;
  const uint16_t port = start().grpc_port();
  faults().slow(std::chrono::milliseconds(5));
  const auto run = load("grpc", port);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_EQ(run->requests(), 40U);
  EXPECT_GT(run->refused, 0U);
  EXPECT_EQ(run->failed, 0U) << run->first_failure;
}

TEST_F(LoadProtocols, RequestsAreServedOverTls) {
  encrypt();
  serve::Server& server = start();
  expect_all_served(load("https", server.port()));
  expect_all_served(load("grpcs", server.grpc_port()));
  ca_ = write_text(files_.file("other.pem"), Authority().certificate());
  EXPECT_THAT(load("https", server.port()).status().message(), HasSubstr("agree on encryption"));
  EXPECT_THAT(load("grpcs", server.grpc_port()).status().message(), HasSubstr("cannot connect"));
  ca_ = files_.file("nowhere.pem");
  EXPECT_THAT(load("https", server.port()).status().message(), HasSubstr("nowhere.pem"));
}

// So a load with tries again ends.
TEST_F(LoadProtocols, AServerOfGrpcThatIsGoneRefusesNothing) {
  const std::string url = "grpc://127.0.0.1:" + std::to_string(start().grpc_port());
  const cli::RemoteServer server = cli::find_server(url).value();
  const auto protocol = cli::protocol_of(url, ca_).value();
  const auto connection = protocol->connection_to(server);
  ASSERT_TRUE(connection->connect().ok());
  const std::string request = tiny_request().SerializeAsString();
  const auto answer = connection->answer_to(request);
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->status, 200U);
  stop();
  EXPECT_TRUE(eventually(
      [&] { return connection->answer_to(request).status().code() == StatusCode::kIoError; }));
}

TEST(RemoteArguments, PassThroughAText) {
  cli::BenchArguments arguments;
  arguments.url = "grpc://a:1";
  arguments.models = {"glyphs"};
  arguments.seed = 7;
  arguments.queries_per_second = 0.25;
  arguments.picture.mean = {1, 2, 3};
  const auto read = cli::arguments_of_text(cli::text_of_arguments(arguments));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->url, arguments.url);
  EXPECT_EQ(read->models, arguments.models);
  EXPECT_EQ(read->seed, arguments.seed);
  EXPECT_EQ(read->queries_per_second, 0.25);
  EXPECT_EQ(read->picture.mean, arguments.picture.mean);
  EXPECT_FALSE(cli::arguments_of_text("bench").ok());
}

}  // namespace
}  // namespace millrace::test
