// Requests that share a job: each is answered as it would be alone, whatever happens to the others.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The delay is so long that a batch leaves for another reason only.
class Batching : public Serve {
 protected:
  Batching() { options_.batch_delay_seconds = 3600; }

  // A client that has sent a request; the server has taken it.
  HttpClient asking(const std::string& parameters = "") {
    HttpClient one = client();
    const std::string body = tiny_body(parameters);
    one.ask(fmt::format("POST {} HTTP/1.1\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
                        kInferPath, body.size()));
    one.send(body);
    return one;
  }
  std::string metrics() const { return client().get("/metrics").body; }
  // The metric of jobs that were accepted, and of their frames.
  // The batcher's thread may count a job after its answer.
  bool has_jobs(int jobs, int frames) const {
    return eventually([&] {
      const std::string text = metrics();
      const auto has = [&](const char* part, int number) {
        const std::string line = fmt::format(
            "millrace_job_frames_{}{{model=\"tiny\",version=\"1\"}} {}\n", part, number);
        return text.find(line) != std::string::npos;
      };
      return has("count", jobs) && has("sum", frames);
    });
  }
};

TEST_F(Batching, ABatchLeavesWhenItIsFull) {
  start({.batch_size = 3});
  HttpClient a = asking(), b = asking(), c = asking();
  for (HttpClient* one : {&a, &b, &c}) {
    const HttpAnswer answer = one->receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(json::parse(answer.body)["outputs"][0]["shape"], json({1, 10, 4, 4}));
  }
  EXPECT_TRUE(has_jobs(1, 3));
  const json all = json::parse(client().get("/v2/models/tiny/stats").body)["model_stats"][0];
  EXPECT_EQ(all["inference_count"], 3);
  EXPECT_EQ(all["execution_count"], 1);
}

TEST_F(Batching, ABatchLeavesAfterTheDelay) {
  options_.batch_delay_seconds = 0.001;
  start({.batch_size = 3});
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 200);
  EXPECT_TRUE(has_jobs(1, 1));
}

TEST_F(Batching, ABatchLeavesForADeadlineThatWouldPassMeanwhile) {
  start({.batch_size = 3});
  HttpClient patient = asking();
  EXPECT_EQ(client().post(kInferPath, tiny_body(R"("timeout":60000000)")).status, 200);
  EXPECT_EQ(patient.receive().status, 200);
  EXPECT_TRUE(has_jobs(1, 2));
}

TEST_F(Batching, ALateRequestLeavesTheOthers) {
  start({.batch_size = 3});
  faults().hold();
  HttpClient patient = asking();
  EXPECT_EQ(client().post(kInferPath, tiny_body(R"("timeout":20000)")).status, 504);
  EXPECT_THAT(metrics(), HasSubstr(R"(reason="late",version="1"} 1)"));
  faults().release();
  EXPECT_EQ(patient.receive().status, 200);
}

TEST_F(Batching, ARequestThatIsCancelledMakesRoomInItsBatch) {
  start({.batch_size = 2});
  HttpClient gone = asking();
  gone.close();
  ASSERT_TRUE(eventually(
      [&] { return metrics().find(R"(reason="cancelled",version="1"} 1)") != std::string::npos; }));
  HttpClient a = asking(), b = asking();
  EXPECT_EQ(a.receive().status, 200);
  EXPECT_EQ(b.receive().status, 200);
  EXPECT_TRUE(has_jobs(1, 2));
}

TEST_F(Batching, AJobIsCancelledWithTheLastOfItsRequests) {
  start({.batch_size = 2});
  faults().hold();
  HttpClient first = asking(), second = asking();
  faults().await_arrivals(1);
  first.close();
  ASSERT_TRUE(eventually(
      [&] { return metrics().find(R"(reason="cancelled",version="1"} 1)") != std::string::npos; }));
  EXPECT_EQ(served().in_flight(), 1U);
  second.close();
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 0; }));
}

TEST_F(Batching, ARequestThatIsCancelledLeavesTheOthersOfItsJob) {
  start({.batch_size = 2});
  faults().hold();
  HttpClient gone = asking(), other = asking();
  faults().await_arrivals(1);
  gone.close();
  ASSERT_TRUE(eventually(
      [&] { return metrics().find(R"(reason="cancelled",version="1"} 1)") != std::string::npos; }));
  faults().release();
  EXPECT_EQ(other.receive().status, 200);
}

TEST_F(Batching, AFailedBatchRunsAgainOneByOne) {
  start({.batch_size = 2});
  faults().fail_nth(1);
  faults().fail_nth(2);  // the first request alone
  HttpClient a = asking(), b = asking();
  const int first = a.receive().status, second = b.receive().status;
  EXPECT_EQ(first + second, 200 + 500);
  EXPECT_TRUE(has_jobs(3, 4));
}

TEST_F(Batching, RequestsThatRunAgainNeedNoMoreRoomInTheQueueThanTheirJob) {
  options_.queue_depth = 1;
  start({.batch_size = 3});
  faults().fail_nth(1);
  HttpClient a = asking(), b = asking(), c = asking();
  for (HttpClient* one : {&a, &b, &c}) EXPECT_EQ(one->receive().status, 200);
  EXPECT_TRUE(has_jobs(4, 6));
}

TEST_F(Batching, ADrainDoesNotWaitForFurtherRequests) {
  serve::Server& server = start({.batch_size = 2});
  HttpClient waiting = asking();
  EXPECT_TRUE(server.drain());
  EXPECT_EQ(waiting.receive().status, 200);
}

TEST_F(Batching, AServerThatEndsAnswersWhatWaits) {
  start({.batch_size = 2});
  HttpClient waiting = asking();
  ASSERT_EQ(client().get("/v2").status, 200);  // the request has been taken
  stop();
  const int status = waiting.receive().status;
  EXPECT_TRUE(status == 503 || status == 0) << status;  // 0: the connection ended first
}

TEST_F(Batching, AModelThatIsLoadedAgainAnswersWhatWaits) {
  options_.model_control = true;
  start({.batch_size = 2});
  HttpClient waiting = asking();
  EXPECT_EQ(client().post("/v2/repository/models/tiny/load", "").status, 200);
  EXPECT_EQ(waiting.receive().status, 200);
}

TEST_F(Batching, AFullQueueRefusesEachRequestOfABatch) {
  options_.queue_depth = 1;
  start({.batch_size = 2});
  faults().hold();
  HttpClient a = asking(), b = asking();
  faults().await_arrivals(1);
  HttpClient c = asking(), d = asking();
  EXPECT_EQ(c.receive().status, 429);
  EXPECT_EQ(d.receive().status, 429);
  faults().release();
  EXPECT_EQ(a.receive().status, 200);
  EXPECT_EQ(b.receive().status, 200);
}

TEST_F(Batching, AModelOfOneFrameCannotBeBatched) {
  ASSERT_TRUE(write_tiny_model(options_.models[0]).ok());
  EXPECT_THAT(serve::Server::start(options_).status().message(),
              HasSubstr("--batch-delay needs a model that takes several frames"));
}

// On the device that computes: the scores of pictures that share a job are those of each alone.
TEST(BatchedGlyphs, HaveTheBitsThatTheyHaveAlone) {
  constexpr size_t kPixels = 32 * 32, kPictures = 3;
  const auto picture = [](size_t n) {
    std::string bytes(kPixels * sizeof(float), '\0');
    for (size_t i = 0; i < kPixels; ++i) {
      const float pixel = static_cast<float>((i * 37 + n * 11) % 256) / 255;
      std::memcpy(bytes.data() + i * sizeof(float), &pixel, sizeof(float));
    }
    return post_text("/v2/models/glyphs/infer", bytes, "Inference-Header-Content-Length: 0\r\n");
  };
  serve::Options options;
  options.models = {MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx"};
  options.http_port = 0;
  options.batch = kPictures;
  const auto alone = serve::Server::start(options).value();
  options.batch_delay_seconds = 3600;
  const auto together = serve::Server::start(options).value();
  std::vector<HttpClient> clients;
  for (size_t n = 0; n < kPictures; ++n) clients.emplace_back(together->port()).send(picture(n));
  for (size_t n = 0; n < kPictures; ++n) {
    const HttpAnswer answer = clients[n].receive();
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body, HttpClient(alone->port()).ask(picture(n)).body);
  }
}

}  // namespace
}  // namespace millrace::test
