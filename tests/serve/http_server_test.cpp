// The HTTP server apart from the protocol: what it keeps for clients that do not take their answer,
// and what waits for a worker, is bounded.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "serve/http/http_server.h"
#include "tests/serve/http_client.h"

namespace millrace::test {
namespace {

constexpr const char* kAsk = "GET / HTTP/1.1\r\n\r\n";

// Answers every request by a function, on a worker if that is set.
class Answers : public serve::Handler {
 public:
  std::function<std::string()> answer = [] { return std::string("answer"); };
  bool by_worker = false;
  std::atomic<int> begun = 0, refusals = 0;

  std::optional<serve::HttpResponse> refuse(const serve::HttpRequest&) override {
    return std::nullopt;
  }
  void refused(const serve::HttpRequest&, unsigned) noexcept override { ++refusals; }
  bool takes_long(const serve::HttpRequest&, size_t) const override { return by_worker; }
  std::shared_ptr<serve::Work> handle(serve::HttpRequest, serve::Respond respond) override {
    ++begun;
    respond({.text = answer()});
    return nullptr;
  }
};

class HttpServer : public ::testing::Test {
 protected:
  ~HttpServer() override {
    if (server_) server_->stop();
    workers_.join();
  }

  void start() {
    server_ = serve::HttpServer::start("127.0.0.1", 0, limits_, answers_, workers_, open_).value();
  }
  HttpClient client() const { return HttpClient(server_->port()); }

  static bool eventually(const std::function<bool()>& holds) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  serve::HttpLimits limits_;
  Answers answers_;
  serve::Workers workers_{1, 1};
  std::atomic<uint32_t> open_ = 0;
  std::unique_ptr<serve::HttpServer> server_;
};

TEST_F(HttpServer, AnswersThatAreNotTakenHaveALimit) {
  limits_.all_answers_bytes = size_t{40} << 20;
  answers_.answer = [] { return std::string(size_t{32} << 20, 'x'); };
  start();
  HttpClient lazy = client();
  lazy.send(kAsk);
  ASSERT_TRUE(eventually([&] { return answers_.begun == 1; }));
  EXPECT_EQ(client().ask(kAsk).status, 503);
  EXPECT_EQ(answers_.refusals, 1);
  EXPECT_EQ(lazy.receive().body.size(), size_t{32} << 20);
  ASSERT_TRUE(eventually([&] { return client().ask(kAsk).status == 200; }));
}

TEST_F(HttpServer, AnAnswerCountsAsTheMemoryThatItTakes) {
  limits_.all_answers_bytes = size_t{1} << 20;
  answers_.answer = [] {
    std::string answer = "a short answer";
    answer.reserve(size_t{2} << 20);
    return answer;
  };
  start();
  EXPECT_EQ(client().ask(kAsk).status, 503);
}

TEST_F(HttpServer, RequestsThatWaitForAWorkerHaveALimit) {
  std::promise<void> gate;
  answers_.by_worker = true;
  answers_.answer = [opened = gate.get_future().share()] {
    opened.wait();
    return std::string("answer");
  };
  start();
  HttpClient running = client(), waiting = client();
  running.send(kAsk);
  ASSERT_TRUE(eventually([&] { return answers_.begun == 1; }));
  waiting.send(kAsk);
  ASSERT_TRUE(eventually([&] { return workers_.waiting() == 1; }));
  EXPECT_EQ(client().ask(kAsk).status, 503);
  EXPECT_EQ(answers_.refusals, 1);
  gate.set_value();
  EXPECT_EQ(running.receive().status, 200);
  EXPECT_EQ(waiting.receive().status, 200);
}

TEST_F(HttpServer, AClientThatGoesLeavesTheQueueForTheWorkers) {
  std::promise<void> gate;
  answers_.by_worker = true;
  answers_.answer = [opened = gate.get_future().share()] {
    opened.wait();
    return std::string("answer");
  };
  start();
  HttpClient running = client(), waiting = client();
  running.send(kAsk);
  ASSERT_TRUE(eventually([&] { return answers_.begun == 1; }));
  waiting.send(kAsk);
  ASSERT_TRUE(eventually([&] { return workers_.waiting() == 1; }));
  waiting.close();
  ASSERT_TRUE(eventually([&] { return workers_.waiting() == 0; }));
  gate.set_value();
  EXPECT_EQ(running.receive().status, 200);
  EXPECT_EQ(answers_.begun, 1);
}

}  // namespace
}  // namespace millrace::test
