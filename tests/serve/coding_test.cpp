// Bodies that are compressed: requests, answers, and those that would unpack to more than is
// allowed.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <string>
#include <utility>

#include "serve/http/compression.h"
#include "serve/service.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using serve::Coding;
using ::testing::HasSubstr;

using Codings = Serve;

std::string packed(std::string text, Coding coding) {
  serve::HttpResponse response{.text = std::move(text)};
  EXPECT_TRUE(serve::pack(response, coding));
  return response.text;
}

std::string unpacked(const std::string& text, Coding coding) {
  serve::MemoryBlock body;
  EXPECT_EQ(
      serve::unpack(
          std::as_bytes(std::span(text)), coding, 0, 1 << 20, [](size_t) { return true; }, body),
      serve::UnpackOutcome::kDone);
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

TEST_F(Codings, CompressedRequestsAreRead) {
  start();
  HttpClient one = client();
  const std::string plain = one.post(kInferPath, tiny_body()).body;
  const std::string gzip = packed(tiny_body(), Coding::kGzip);
  EXPECT_EQ(one.post(kInferPath, gzip, "Content-Encoding: gzip\r\n").body, plain);
  const std::string deflate = packed(tiny_body(), Coding::kDeflate);
  EXPECT_EQ(one.post(kInferPath, deflate, "Content-Encoding: deflate\r\n").body, plain);
  EXPECT_EQ(one.post(kInferPath, tiny_body(), "Content-Encoding: identity\r\n").body, plain);
}

// The length of the JSON is that of the body before it was compressed, which may be more.
TEST_F(Codings, RawTensorsMayBeCompressed) {
  start();
  const std::string text = R"({"inputs":[{"name":"data","shape":[1,3,4,4],"datatype":"FP32",)"
                           R"("parameters":{"binary_data_size":192}}]})";
  const std::string body = packed(text + std::string(192, '\0'), Coding::kGzip);
  const HttpAnswer answer = client().post(kInferPath, body,
                                          "Content-Encoding: gzip\r\n"
                                          "Inference-Header-Content-Length: " +
                                              std::to_string(text.size()) + "\r\n");
  EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST_F(Codings, AnswersAreCompressedForClientsThatTakeThat) {
  start();
  HttpClient one = client();
  const std::string plain = one.post(kInferPath, tiny_body()).body;
  const HttpAnswer gzip =
      one.post(kInferPath, tiny_body(), "Accept-Encoding: br, deflate, gzip\r\n");
  EXPECT_EQ(gzip.fields.at("content-encoding"), "gzip");
  EXPECT_EQ(unpacked(gzip.body, Coding::kGzip), plain);
  const HttpAnswer deflate =
      one.post(kInferPath, tiny_body(), "Accept-Encoding: gzip;q=0, deflate;q=0.5\r\n");
  EXPECT_EQ(deflate.fields.at("content-encoding"), "deflate");
  EXPECT_EQ(unpacked(deflate.body, Coding::kDeflate), plain);
  EXPECT_EQ(one.post(kInferPath, tiny_body(), "Accept-Encoding: br\r\n").body, plain);
}

TEST_F(Codings, ACompressedAnswerTakesNoMoreMemoryThanItsBytes) {
  const std::string gzip = packed(std::string(1 << 20, ' '), Coding::kGzip);
  EXPECT_LT(gzip.capacity(), 10'000U);
}

// Jobs wait behind the thread that would compress it.
TEST_F(Codings, ALargeAnswerIsSentAsItIsWhenTheWorkersAreBusy) {
  ASSERT_TRUE(write_tiny_model(options_.models[0]).ok());
  Device device = Device::open("null").value();
  serve::Metrics metrics;
  serve::ModelRepository models(options_, device, metrics);
  ASSERT_TRUE(models.start().ok());
  serve::Workers busy(1, 0);
  const std::atomic<uint32_t> connections = 0;
  serve::Service service(models, metrics, busy, options_, connections);
  const auto ask = [&](size_t id_bytes) {
    const std::string text =
        R"({"id":")" + std::string(id_bytes, 'x') + "\"," + tiny_body().substr(1);
    serve::HttpRequest request;
    request.method = "POST";
    request.target = kInferPath;
    request.fields = {{"Accept-Encoding", "gzip"}};
    request.arrival = std::chrono::steady_clock::now();
    EXPECT_TRUE(serve::MemoryBlock::allocate(text.size(), 0, request.body));
    std::memcpy(request.body.data(), text.data(), text.size());
    std::promise<serve::HttpResponse> answer;
    const auto work = service.handle(std::move(request), [&](serve::HttpResponse response) {
      answer.set_value(std::move(response));
    });
    return answer.get_future().get();
  };
  EXPECT_LT(ask(1000).text.size(), 1000U);
  EXPECT_GT(ask(100'000).text.size(), 100'000U);
  models.close();
}

TEST_F(Codings, AFewBytesCannotBecomeMany) {
  options_.http.body_bytes = 10'000;
  start();
  const std::string bomb = packed(std::string(1 << 20, ' '), Coding::kGzip);
  ASSERT_LT(bomb.size(), 10'000U);
  const HttpAnswer answer = client().post(kInferPath, bomb, "Content-Encoding: gzip\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.body, HasSubstr("when it is unpacked"));
}

TEST_F(Codings, UnpackedBodiesTogetherHaveALimit) {
  options_.http.all_bodies_bytes = 10'000;
  start();
  const std::string body = packed(tiny_body() + std::string(100'000, ' '), Coding::kGzip);
  EXPECT_EQ(client().post(kInferPath, body, "Content-Encoding: gzip\r\n").status, 503);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Codings, WhatCannotBeUnpackedIsRefused) {
  start();
  HttpClient one = client();
  const std::string right = packed(tiny_body(), Coding::kGzip);
  for (const std::string& wrong :
       {std::string("no gzip"), std::string(), right.substr(0, 20),
        right.substr(0, right.size() - 1), right + "x", packed(tiny_body(), Coding::kDeflate)}) {
    const HttpAnswer answer = one.post(kInferPath, wrong, "Content-Encoding: gzip\r\n");
    EXPECT_EQ(answer.status, 400) << wrong.size();
    EXPECT_THAT(answer.body, HasSubstr("not of the coding"));
  }
}

}  // namespace
}  // namespace millrace::test
