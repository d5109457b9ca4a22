// HTTPS: who may ask, and that encrypted connections keep the promises of the others.
#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "serve/file_watch.h"
#include "tests/serve/serve_fixture.h"
#include "tests/serve/tls_client.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Tls : public Serve {
 protected:
  Tls() {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to connections that servers have closed
    const Identity own = authority_.issue();
    options_.tls.certificate = write("server.pem", own.certificate);
    options_.tls.key = write("server.key", own.key);
  }

  std::string write(const std::string& name, const std::string& text) {
    return write_text(files_.file(name), text);
  }
  void ask_for_certificates() {
    options_.tls.client_ca = write("clients.pem", authority_.certificate());
  }
  TlsClient tls_client(const Identity* own = nullptr) { return {port_, authority_, own}; }
  serve::Server& start() {
    serve::Server& server = Serve::start();
    port_ = server.port();
    return server;
  }
  std::string refusal() {
    const auto server = serve::Server::start(options_);
    EXPECT_FALSE(server.ok());
    return server.status().message();
  }

  const Authority authority_;
  const TemporaryDirectory files_;
  uint16_t port_ = 0;
};

TEST_F(Tls, RequestsAreAnsweredOnOneConnection) {
  EXPECT_THAT(start().url(), StartsWith("https://127.0.0.1:"));
  TlsClient one = tls_client();
  ASSERT_TRUE(one.is_connected());
  EXPECT_EQ(one.get("/v2/health/ready").status, 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 200);
  const std::string spaces(size_t{9} << 20, ' ');
  EXPECT_EQ(one.post(kInferPath, spaces + tiny_body() + spaces).status, 200);
}

TEST_F(Tls, TheServerSaysWhenThatWasAll) {
  start();
  TlsClient one = tls_client();
  EXPECT_EQ(one.ask("GET /v2 HTTP/1.1\r\nConnection: close\r\n\r\n").status, 200);
  EXPECT_TRUE(one.is_closed());
  EXPECT_TRUE(one.was_left());
}

// The second request is read while the first one is being answered.
TEST_F(Tls, RequestsMayBePipelined) {
  start();
  TlsClient one = tls_client();
  const std::string request = post_text(kInferPath, tiny_body());
  one.send(request + request);
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_EQ(one.receive().status, 200);
  faults().hold();
  one.send(request);
  faults().await_arrivals(3);
  one.send(request);
  faults().release();
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_EQ(one.receive().status, 200);
}

// Each second request begins within what is read during the first one, and ends after its answer.
TEST_F(Tls, RequestsMayComeInPieces) {
  start();
  const std::string request = post_text(kInferPath, tiny_body());
  const auto ask_often = [&] {
    TlsClient one = tls_client();
    for (size_t i = 1; i <= 10; ++i) {
      const std::string first = one.encrypted(request), second = one.encrypted(request);
      const size_t piece = i * second.size() / 11;
      one.send_raw(first);
      one.send_raw(second.substr(0, piece));
      EXPECT_EQ(one.receive().status, 200);
      one.send_raw(second.substr(piece));
      EXPECT_EQ(one.receive().status, 200);
    }
  };
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(ask_often);
}

TEST_F(Tls, AClientThatStopsWithinARequestIsLeft) {
  options_.http.idle_seconds = 0.3;
  start();
  TlsClient one = tls_client();
  const std::string request = post_text(kInferPath, tiny_body());
  faults().hold();
  one.send(request);
  faults().await_arrivals(1);
  one.send_raw(one.encrypted(request).substr(0, 100));
  faults().release();
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_TRUE(one.is_closed());
}

TEST_F(Tls, AClientThatLeavesCancelsItsJob) {
  start();
  faults().hold();
  TlsClient one = tls_client();
  one.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  one.leave();
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 0; }));
}

TEST_F(Tls, ClientsStateACertificateOfTheAuthority) {
  ask_for_certificates();
  start();
  const Identity known = authority_.issue(), stranger = Authority().issue();
  EXPECT_EQ(tls_client(&known).post(kInferPath, tiny_body()).status, 200);
  EXPECT_EQ(tls_client(&stranger).post(kInferPath, tiny_body()).status, 0);
  EXPECT_EQ(tls_client().post(kInferPath, tiny_body()).status, 0);
  EXPECT_EQ(tls_client(&known).get("/v2/health/live").status, 200);
}

TEST_F(Tls, TheServerIsWhoItSays) {
  start();
  EXPECT_FALSE(TlsClient(port_, Authority()).is_connected());
  EXPECT_TRUE(tls_client().is_connected());
}

TEST_F(Tls, ASlowHandshakeDelaysNobodyAndEnds) {
  options_.http.header_seconds = 1;
  start();
  HttpClient slow(port_);
  EXPECT_EQ(tls_client().post(kInferPath, tiny_body()).status, 200);
  EXPECT_TRUE(slow.is_closed());
  EXPECT_THAT(tls_client().get("/metrics").body,
              HasSubstr(R"({code="408",model="",version=""} 1)"));
}

TEST_F(Tls, AClientWithoutItGetsNoAnswer) {
  start();
  EXPECT_EQ(HttpClient(port_).post(kInferPath, tiny_body()).status, 0);
  EXPECT_EQ(tls_client().post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Tls, AUnixSocketHasNone) {
  options_.unix_socket = files_.file("socket");
  start();
  EXPECT_EQ(HttpClient(options_.unix_socket).post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Tls, NewFilesAreForNewConnections) {
  serve::Server& server = start();
  TlsClient old = tls_client();
  const Authority next;
  LogCapture log(LogLevel::kError);
  write("server.key", next.issue().key);
  server.reread_files();  // the certificate is not that of the key
  EXPECT_GT(log.count("the certificate is not read again, and stays as it was"), 0U);
  EXPECT_TRUE(tls_client().is_connected());
  const Identity renewed = next.issue();
  write("server.key", renewed.key);
  write("server.pem", renewed.certificate);
  server.reread_files();
  EXPECT_TRUE(eventually([&] { return TlsClient(port_, next).is_connected(); }));
  EXPECT_FALSE(tls_client().is_connected());
  EXPECT_EQ(old.post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Tls, FilesAreReadAgainWhenTheyChange) {
  const std::string link = files_.file("link"), first = write("first", "1");
  std::filesystem::create_symlink(first, link);
  std::atomic<int> changes = 0;
  const auto watch = serve::FileWatch::start(
      {link, files_.file("missing")}, std::chrono::milliseconds(1), [&] { return ++changes > 0; });
  ASSERT_TRUE(watch.ok());
  write("second", "2");
  std::filesystem::create_symlink(files_.file("second"), files_.file("next"));
  std::filesystem::rename(files_.file("next"), link);
  EXPECT_TRUE(eventually([&] { return changes == 1; }));
  write("missing", "3");
  EXPECT_TRUE(eventually([&] { return changes >= 2; }));
}

TEST_F(Tls, FilesThatCannotBeReadAreReadAgain) {
  std::atomic<int> calls = 0;
  const auto watch = serve::FileWatch::start({write("file", "1")}, std::chrono::milliseconds(1),
                                             [&] { return ++calls >= 3; });
  ASSERT_TRUE(watch.ok());
  write("file", "22");
  EXPECT_TRUE(eventually([&] { return calls >= 3; }));
}

TEST_F(Tls, TheLogNamesAWrongFileOnce) {
  serve::Server& server = start();
  const std::string other = write("other.key", Authority().issue().key);
  LogCapture log(LogLevel::kError);
  std::filesystem::rename(other, options_.tls.key);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(server.reread_files());
  EXPECT_EQ(log.count("the certificate is not read again"), 1U);
}

TEST_F(Tls, WrongFilesAreNamed) {
  ASSERT_TRUE(write_tiny_model(options_.models[0]).ok());
  const serve::TlsPaths right = options_.tls;
  options_.tls.key = "";
  EXPECT_THAT(refusal(), HasSubstr("--tls-key belong together"));
  options_.tls.key = files_.file("nowhere.key");
  EXPECT_THAT(refusal(), HasSubstr("nowhere.key"));
  options_.tls.key = write("other.key", authority_.issue().key);
  EXPECT_THAT(refusal(), HasSubstr("other.key: "));
  options_.tls = right;
  options_.tls.certificate = write("broken.pem", "no certificate");
  EXPECT_THAT(refusal(), HasSubstr("broken.pem: "));
  options_.tls = right;
  options_.tls.client_ca = write("empty.pem", "");
  EXPECT_THAT(refusal(), HasSubstr("empty.pem: "));
  options_.tls = {.certificate = {}, .key = {}, .client_ca = right.certificate};
  EXPECT_THAT(refusal(), HasSubstr("--tls-client-ca needs"));
}

}  // namespace
}  // namespace millrace::test
