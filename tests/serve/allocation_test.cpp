// Every allocation of a request may fail: the request is answered once all the same.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/http/http_server.h"
#include "serve/service.h"
#include "tests/serve/http_client.h"
#include "tests/support/counting_new.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

class ServeAllocations : public ::testing::Test {
 protected:
  explicit ServeAllocations(uint32_t frames = 1) {
    EXPECT_TRUE(write_tiny_model(directory_.file("tiny.rai"), {.batch_size = frames}).ok());
    options_.units = 1;
    options_.batch_delay_seconds = frames > 1 ? 3600 : 0;
    options_.models = {directory_.file("tiny.rai")};
    EXPECT_TRUE(models_.start().ok());
    std::string data = "0";
    for (uint32_t i = 1; i < frames * 48; ++i) data += ",1";
    body_ = R"({"id":"an id that is longer than a short string","inputs":[{"name":"data",)"
            R"("shape":[)" +
            std::to_string(frames) + R"(,3,4,4],"datatype":"FP32","data":[)" + data + "]}]}";
  }
  ~ServeAllocations() override { models_.close(); }

  serve::HttpRequest request() const {
    serve::HttpRequest request;
    request.method = "POST";
    request.target = "/v2/models/tiny/infer";
    request.arrival = std::chrono::steady_clock::now();
    EXPECT_TRUE(serve::MemoryBlock::allocate(body_.size(), 0, request.body));
    std::memcpy(request.body.data(), body_.data(), body_.size());
    return request;
  }

  void ask_while_each_fails();

  const TemporaryDirectory directory_;
  serve::Options options_;
  Device device_ = Device::open("null").value();
  serve::Metrics metrics_;
  serve::ModelRepository models_{options_, device_, metrics_};
  serve::Workers workers_{1};
  const std::atomic<uint32_t> connections_ = 0;
  serve::Service service_{models_, metrics_, workers_, options_, connections_};
  std::string body_;
};

void ServeAllocations::ask_while_each_fails() {
  bool happened = true;
  size_t failures = 0;
  for (size_t count = 0; happened; ++count) {
    std::promise<unsigned> status;
    serve::HttpRequest asked = request();
    serve::Respond respond = [&status](serve::HttpResponse response) {
      status.set_value(response.status);  // throws if there was an answer
    };
    std::shared_ptr<serve::Work> work;
    {
      const FailingAllocation failing(count);
      work = service_.handle(std::move(asked), std::move(respond));
      happened = failing.happened();
    }
    const unsigned answer = status.get_future().get();
    EXPECT_EQ(answer, happened && answer != 200 ? 503U : 200U) << "allocation " << count;
    failures += answer == 503 ? 1 : 0;
    ASSERT_LT(count, 10'000U);
  }
  EXPECT_GT(failures, 20U);
}

TEST_F(ServeAllocations, EachMayFail) {
  ask_while_each_fails();
}

// Requests that fill a batch, so that it leaves at once.
class BatchAllocations : public ServeAllocations {
 protected:
  BatchAllocations() : ServeAllocations(2) {}
};

TEST_F(BatchAllocations, EachMayFail) {
  ask_while_each_fails();
}

// Answers every request. From the head of a request on, an allocation of the server's thread fails.
class FailingAnswers : public serve::Handler {
 public:
  std::atomic<long> fail_after = -1;  // -1: none fails

  std::optional<serve::HttpResponse> refuse(const serve::HttpRequest&) override {
    failing_.reset();
    if (fail_after >= 0) failing_.emplace(static_cast<size_t>(fail_after));
    return std::nullopt;
  }
  void refused(const serve::HttpRequest&, unsigned) noexcept override {}
  bool takes_long(const serve::HttpRequest&, size_t) const override { return by_worker; }
  std::shared_ptr<serve::Work> handle(serve::HttpRequest, serve::Respond respond) override {
    respond({.text = "an answer"});
    return nullptr;
  }

  bool by_worker = false;

 private:
  std::optional<FailingAllocation> failing_;
};

void ask_while_allocations_fail(bool by_worker) {
  constexpr long kAllocations = 40;
  FailingAnswers answers;
  answers.by_worker = by_worker;
  serve::Workers workers(1);
  std::atomic<uint32_t> open = 0;
  const auto server =
      serve::HttpServer::start("127.0.0.1", 0, serve::HttpLimits{}, answers, workers, open).value();
  int answered = 0;
  for (long count = 0; count < kAllocations; ++count) {
    answers.fail_after = count;
    HttpClient client(server->port());
    const int status = client.post("/", "a body").status;
    EXPECT_TRUE(status == 200 || status == 503 || status == 0) << status;  // 0: it was closed
    answered += status == 200 ? 1 : 0;
  }
  EXPECT_GT(answered, 0);
  EXPECT_LT(answered, kAllocations);
  answers.fail_after = -1;
  HttpClient(server->port()).post("/", "a body");  // the last failure may be still to come
  EXPECT_EQ(HttpClient(server->port()).post("/", "a body").status, 200);
  EXPECT_TRUE(server->wait_answered(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  server->stop();
  workers.join();
}

TEST(ServerAllocations, EachMayFail) {
  ask_while_allocations_fail(false);
}

TEST(ServerAllocations, EachMayFailBeforeAWorker) {
  ask_while_allocations_fail(true);
}

}  // namespace
}  // namespace millrace::test
