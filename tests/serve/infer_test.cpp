// Inference: results have the bits of the native API, in every form of request and answer.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kGlyphs = MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx";
constexpr const char* kGlyphsInfer = "/v2/models/glyphs/infer";
constexpr size_t kPixels = 32 * 32;

// The shipped network on the device that computes, and what it says to one picture.
class Glyphs : public ::testing::Test {
 protected:
  Glyphs() {
    serve::Options options;
    options.models = {kGlyphs};
    options.http_port = 0;
    options.takes_pictures = true;
    options.picture.scale.fill(1 / 255.0F);
    options.labels = MILLRACE_SOURCE_DIR "/models/glyphs/classes.txt";
    server_ = serve::Server::start(options).value();
    for (size_t i = 0; i < kPixels; ++i) {
      pixels_ += static_cast<char>(i * 37 % 256);
      picture_.push_back(static_cast<float>(i * 37 % 256) * (1 / 255.0F));
    }
    expected_ = native_scores();
  }

  std::vector<float> native_scores() {
    Device device = Device::open("cpu").value();
    const Model& model = server_->models()[0]->model();
    Unit unit = device.create_unit().value();
    std::vector<float> scores(model.outputs()[0].cpu.elements);
    const TensorArg in(std::span<const float>{picture_}), out(std::span<float>{scores});
    EXPECT_TRUE(unit.execute(model, {.inputs = {&in, 1}, .outputs = {&out, 1}}).ok());
    return scores;
  }

  std::string raw_picture() const {
    return {reinterpret_cast<const char*>(picture_.data()), picture_.size() * sizeof(float)};
  }
  static std::vector<float> floats(const std::string& bytes) {
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
    return numbers;
  }
  json request(json input) const {
    input.update({{"name", "image"}, {"shape", {1, 1, 32, 32}}, {"datatype", "FP32"}});
    return {{"id", "request-7"}, {"inputs", {input}}};
  }
  HttpAnswer ask_raw(json request) {
    const std::string text = request.dump();
    return HttpClient(server_->port())
        .post(kGlyphsInfer, text + raw_picture(),
              fmt::format("Inference-Header-Content-Length: {}\r\n", text.size()));
  }

  std::unique_ptr<serve::Server> server_;
  std::string pixels_;
  std::vector<float> picture_, expected_;
};

// The index and the name of the highest score, as a class of the extension ends with them.
std::string best_class(const std::vector<float>& scores) {
  std::ifstream names(MILLRACE_SOURCE_DIR "/models/glyphs/classes.txt");
  const auto best = std::ranges::max_element(scores) - scores.begin();
  std::string name;
  for (ptrdiff_t line = 0; line <= best; ++line) std::getline(names, name);
  return fmt::format(":{}:{}", best, name);
}

TEST_F(Glyphs, APictureIsAnsweredByItsClasses) {
  const std::string file = "P5 32 32 255\n" + pixels_;
  HttpClient client(server_->port());
  const std::string type = "Content-Type: image/x-portable-graymap\r\n";
  const HttpAnswer answer = client.post(kGlyphsInfer, file, type);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json output = json::parse(answer.body)["outputs"][0];
  EXPECT_EQ(output["datatype"], "BYTES");
  EXPECT_EQ(output["shape"], json({1, 5}));
  EXPECT_THAT(output["data"][0].get<std::string>(), EndsWith(best_class(expected_)));
  EXPECT_EQ(client.post(kGlyphsInfer, "no picture", type).status, 400);
}

TEST_F(Glyphs, AnOutputMayBeItsHighestClasses) {
  json ask = request({{"data", picture_}});
  ask["outputs"] = {{{"name", "scores"}, {"parameters", {{"classification", 2}}}}};
  HttpClient client(server_->port());
  const HttpAnswer answer = client.post(kGlyphsInfer, ask.dump());
  const json output = json::parse(answer.body)["outputs"][0];
  EXPECT_EQ(output["shape"], json({1, 2}));
  const std::string best = output["data"][0].get<std::string>();
  EXPECT_THAT(best, EndsWith(best_class(expected_)));
  EXPECT_EQ(std::stof(best), *std::ranges::max_element(expected_));
  ask["outputs"][0]["parameters"]["classification"] = 0;
  EXPECT_EQ(client.post(kGlyphsInfer, ask.dump()).status, 400);
}

TEST_F(Glyphs, JsonGivesTheBitsOfTheNativeApi) {
  HttpClient client(server_->port());
  json rows = json::array();
  for (size_t row = 0; row < 32; ++row)
    rows.push_back(std::vector<float>(picture_.begin() + static_cast<ptrdiff_t>(row * 32),
                                      picture_.begin() + static_cast<ptrdiff_t>(row * 32 + 32)));
  const std::vector<json> forms = {json(picture_),
                                   json::array({json::array({rows})})};  // or nested
  for (const json& data : forms) {
    const HttpAnswer answer = client.post(kGlyphsInfer, request({{"data", data}}).dump());
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json body = json::parse(answer.body);
    EXPECT_EQ(body["id"], "request-7");
    EXPECT_EQ(body["model_name"], "glyphs");
    EXPECT_EQ(body["outputs"][0]["shape"], json({1, 40}));
    EXPECT_EQ(body["outputs"][0]["data"].get<std::vector<float>>(), expected_);
  }
}

TEST_F(Glyphs, RawTensorsGiveTheBitsOfTheNativeApi) {
  json ask = request({{"parameters", {{"binary_data_size", kPixels * sizeof(float)}}}});
  ask["outputs"] = {{{"name", "scores"}, {"parameters", {{"binary_data", true}}}}};
  const HttpAnswer answer = ask_raw(ask);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.fields.at("content-type"), "application/octet-stream");
  const size_t text = std::stoul(answer.fields.at("inference-header-content-length"));
  EXPECT_EQ(json::parse(answer.body.substr(0, text))["outputs"][0]["parameters"],
            json({{"binary_data_size", 160}}));
  EXPECT_EQ(floats(answer.body.substr(text)), expected_);
  // The tensor was read where it was received.
  EXPECT_THAT(HttpClient(server_->port()).get("/metrics").body,
              HasSubstr(R"(millrace_input_copied_bytes_total{model="glyphs",version="1"} 0)"));
}

// Once it is known how long they take, short jobs run on the thread of the connection.
TEST_F(Glyphs, EachOfManyRequestsIsAnsweredAlike) {
  HttpClient client(server_->port());
  for (int i = 0; i < 300; ++i) {
    const HttpAnswer answer =
        client.post(kGlyphsInfer, raw_picture(), "Inference-Header-Content-Length: 0\r\n");
    ASSERT_EQ(answer.status, 200) << answer.body;
    ASSERT_EQ(json::parse(answer.body)["outputs"][0]["data"].get<std::vector<float>>(), expected_);
  }
}

TEST_F(Glyphs, ABodyWithoutJsonIsTheOnlyInput) {
  const HttpAnswer answer =
      HttpClient(server_->port())
          .post(kGlyphsInfer, raw_picture(), "Inference-Header-Content-Length: 0\r\n");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["outputs"][0]["data"].get<std::vector<float>>(), expected_);
}

TEST_F(Glyphs, ChunkedBodiesAndBodiesOnRequest) {
  const std::string body = request({{"data", picture_}}).dump();
  HttpClient client(server_->port());
  client.send("POST /v2/models/glyphs/infer HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.send(fmt::format("{:x}\r\n{}\r\n", 100, body.substr(0, 100)));
  client.send(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size() - 100, body.substr(100)));
  EXPECT_EQ(client.receive().status, 200);
  client.send(
      fmt::format("POST /v2/models/glyphs/infer HTTP/1.1\r\nContent-Length: {}\r\n"
                  "Expect: 100-continue\r\n\r\n",
                  body.size()));
  EXPECT_EQ(client.receive().status, 100);
  EXPECT_EQ(client.ask(body).status, 200);
}

TEST_F(Glyphs, MuchJsonIsReadToo) {
  // More than what the thread of the connections reads itself.
  const std::string body = request({{"data", picture_}}).dump() + std::string(200'000, ' ');
  EXPECT_EQ(HttpClient(server_->port()).post(kGlyphsInfer, body).status, 200);
}

using Infer = Serve;

TEST_F(Infer, FramesOfABatchAreOneTensor) {
  start({.batch_size = 4});
  HttpClient one = client();
  EXPECT_EQ(json::parse(one.get("/v2/models/tiny").body)["inputs"][0]["shape"],
            json({-1, 3, 4, 4}));
  const auto ask = [&](int frames) {
    const json input = {{"name", "data"},
                        {"shape", {frames, 3, 4, 4}},
                        {"datatype", "FP32"},
                        {"data", std::vector<int>(static_cast<size_t>(frames) * 48)}};
    return one.post(kInferPath, json({{"inputs", {input}}}).dump());
  };
  const HttpAnswer answer = ask(3);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json output = json::parse(answer.body)["outputs"][0];
  EXPECT_EQ(output["shape"], json({3, 10, 4, 4}));
  EXPECT_THAT(output["data"], SizeIs(3 * 160));
  EXPECT_EQ(ask(5).status, 400);
}

TEST_F(Infer, RequestsOfOneConnectionAreAnsweredInOrder) {
  start();
  HttpClient one = client();
  one.send(post_text(kInferPath, tiny_body()) + "GET /v2/health/live HTTP/1.1\r\n\r\n" +
           post_text(kInferPath, "{}"));
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_THAT(one.receive().body, HasSubstr("live"));
  EXPECT_EQ(one.receive().status, 400);
}

}  // namespace
}  // namespace millrace::test
