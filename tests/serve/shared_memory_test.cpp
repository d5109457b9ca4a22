// Tensors in shared memory: results are those of other requests, and no client's memory, however it
// changes, harms the server.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "serve/service.h"
#include "source_dir.h"
#include "tests/serve/serve_fixture.h"
#include "tests/serve/shared_object.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kRegions = "/v2/systemsharedmemory";
constexpr size_t kImageBytes = 32 * 32 * sizeof(float), kScores = 40;
constexpr size_t kScoresAt = 8192, kObjectBytes = 16384;

// The shipped network on the device that computes.
class SharedTensors : public ::testing::Test {
 protected:
  SharedTensors() {
    options_.models = {MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx"};
    options_.http_port = 0;
    options_.shared_memory = true;
    for (size_t i = 0; i < image_.size(); ++i) image_[i] = static_cast<float>(i % 97) / 97;
    object_.put(0, image_);
  }

  void start() { server_ = serve::Server::start(options_).value(); }
  HttpClient client() const { return HttpClient(server_->port()); }
  HttpAnswer on_region(const std::string& call, const json& body = json::object()) const {
    return client().post(kRegions + call, body.dump());
  }
  HttpAnswer add_region(const std::string& name = "all", uint64_t offset = 0,
                        uint64_t bytes = kObjectBytes) const {
    return on_region("/region/" + name + "/register",
                     {{"key", object_.key()}, {"offset", offset}, {"byte_size", bytes}});
  }

  static json part(uint64_t offset, uint64_t bytes, const std::string& region = "all") {
    return {{"shared_memory_region", region},
            {"shared_memory_offset", offset},
            {"shared_memory_byte_size", bytes}};
  }
  static json tensor(const json& parameters) {
    return {{"name", "image"},
            {"datatype", "FP32"},
            {"shape", {1, 1, 32, 32}},
            {"parameters", parameters}};
  }
  HttpAnswer infer(const json& in, const json& out = nullptr) const {
    json request = {{"inputs", {tensor(in)}}};
    if (!out.is_null()) request["outputs"] = {{{"name", "scores"}, {"parameters", out}}};
    return client().post("/v2/models/glyphs/infer", request.dump());
  }
  std::vector<float> scores_without() const {
    json input = tensor(json::object());
    input["data"] = image_;
    const HttpAnswer answer =
        client().post("/v2/models/glyphs/infer", json{{"inputs", {input}}}.dump());
    return json::parse(answer.body)["outputs"][0]["data"];
  }

  const SharedObject object_{kObjectBytes};
  serve::Options options_;
  std::unique_ptr<serve::Server> server_;
  std::vector<float> image_ = std::vector<float>(32 * 32);
};

// A copy of any size would hold up all connections otherwise. A key may be spelt with escapes.
TEST_F(SharedTensors, WorkersDoTheCopies) {
  Device device = Device::open("cpu").value();
  serve::Metrics metrics;
  serve::ModelRepository models(options_, device, metrics);
  serve::Workers workers(1, 1);
  const std::atomic<uint32_t> connections = 0;
  const serve::Service service(models, metrics, workers, options_, connections);
  const auto takes_long = [&service](const std::string& body) {
    serve::HttpRequest request;
    EXPECT_TRUE(serve::MemoryBlock::allocate(body.size(), 0, request.body));
    std::memcpy(request.body.data(), body.data(), body.size());
    return service.takes_long(request, body.size());
  };
  EXPECT_TRUE(takes_long(R"({"shared_memory_region": "all"})"));
  EXPECT_TRUE(takes_long(R"({"shared_memory_r\u0065gion": "all"})"));
  EXPECT_FALSE(takes_long(R"({"inputs": []})"));
}

TEST_F(SharedTensors, ResultsAreThoseOfOtherRequests) {
  start();
  ASSERT_EQ(add_region().status, 200);
  const HttpAnswer answer = infer(part(0, kImageBytes), part(kScoresAt, kScores * sizeof(float)));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json output = json::parse(answer.body)["outputs"][0];
  EXPECT_FALSE(output.contains("data"));
  EXPECT_EQ(output["parameters"]["shared_memory_region"], "all");
  EXPECT_EQ(output["parameters"]["shared_memory_byte_size"], kScores * sizeof(float));
  const std::vector<float> expected = scores_without();
  EXPECT_EQ(object_.get(kScoresAt, kScores), expected);
  EXPECT_EQ(json::parse(infer(part(0, kImageBytes)).body)["outputs"][0]["data"], expected);
  EXPECT_THAT(client().get("/v2").body, HasSubstr("system_shared_memory"));
}

TEST_F(SharedTensors, RegionsAreListedAndForgotten) {
  start();
  ASSERT_EQ(add_region("first").status, 200);
  ASSERT_EQ(add_region("second", 4096, 8192).status, 200);
  EXPECT_THAT(add_region("first").body, HasSubstr("already"));
  const json all = json::parse(client().get(std::string(kRegions) + "/status").body);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1]["name"], "second");
  EXPECT_EQ(all[1]["key"], object_.key());
  EXPECT_EQ(all[1]["offset"], 4096);
  EXPECT_EQ(all[1]["byte_size"], 8192);
  EXPECT_EQ(on_region("/region/first/unregister").status, 200);
  EXPECT_EQ(client().get(std::string(kRegions) + "/region/first/status").status, 404);
  EXPECT_EQ(client().get(std::string(kRegions) + "/region/second/status").status, 200);
  EXPECT_EQ(on_region("/unregister").status, 200);
  EXPECT_EQ(client().get(std::string(kRegions) + "/status").body, "[]");
  EXPECT_THAT(infer(part(0, kImageBytes, "second")).body, HasSubstr("no shared memory region"));
}

// A mapping would end the process with SIGBUS.
TEST_F(SharedTensors, AnObjectThatBecomesShorterIsNamed) {
  start();
  ASSERT_EQ(add_region().status, 200);
  object_.resize(kImageBytes / 2);
  for (const auto& answer : {infer(part(0, kImageBytes)), infer(part(kScoresAt, kImageBytes))}) {
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("has been made shorter"));
  }
  object_.resize(kScoresAt);
  object_.put(0, image_);
  const HttpAnswer answer = infer(part(0, kImageBytes), part(kScoresAt, kScores * sizeof(float)));
  EXPECT_THAT(answer.body, HasSubstr("has been made shorter"));
  EXPECT_EQ(infer(part(0, kImageBytes)).status, 200);
}

// Whenever the client does that.
TEST_F(SharedTensors, AnObjectThatShrinksDuringRequestsEndsNoServer) {
  start();
  ASSERT_EQ(add_region().status, 200);
  std::jthread client_that_resizes([&](const std::stop_token& end) {
    while (!end.stop_requested()) {
      object_.resize(0);
      object_.resize(kObjectBytes);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const int status = infer(part(0, kImageBytes), part(kScoresAt, kScores * sizeof(float))).status;
    EXPECT_TRUE(status == 200 || status == 400) << status;
  }
}

TEST_F(SharedTensors, PartsThatDoNotFitAreNamed) {
  start();
  ASSERT_EQ(add_region("all", 4096, 8192).status, 200);
  constexpr uint64_t kMost = INT64_MAX;
  for (const auto& [in, message] :
       {std::pair(part(0, 4), "has 4096 bytes, not 4"),
        {part(4097, kImageBytes), "has 8192 bytes"},
        {part(kMost, kImageBytes), "has 8192 bytes"},
        {part(0, kImageBytes, "none"), "\"none\""},
        {json{{"shared_memory_region", "all"}}, "needs shared_memory_byte_size"},
        {json{{"shared_memory_region", 7}}, "is not a name"}}) {
    const HttpAnswer answer = infer(in);
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(json::parse(answer.body)["error"].get<std::string>(), HasSubstr(message));
  }
  EXPECT_THAT(infer(part(0, kImageBytes), part(0, 4)).body, HasSubstr("has 160 bytes"));
  json classes = part(0, kScores * sizeof(float));
  classes["classification"] = 1;
  EXPECT_THAT(infer(part(0, kImageBytes), classes).body, HasSubstr("classes are texts"));
}

TEST_F(SharedTensors, RegionsThatAreNoneAreRefused) {
  start();
  EXPECT_THAT(add_region("a", 0, kObjectBytes + 1).body, HasSubstr("has 16384 bytes"));
  EXPECT_EQ(add_region("a", 0, 0).status, 400);
  EXPECT_EQ(add_region("a", INT64_MAX, INT64_MAX).status, 400);
  EXPECT_EQ(add_region("a", UINT64_MAX, 2).status, 400);
  for (const char* key : {"/millrace-no-such-object", "/", "", "/../../etc/passwd", "/shm/x"})
    EXPECT_EQ(on_region("/region/a/register", {{"key", key}, {"byte_size", 1}}).status, 400) << key;
  EXPECT_EQ(on_region("/region/a/register", {{"key", object_.key()}}).status, 400);
  EXPECT_EQ(on_region("/region/a/register", {{"key", object_.key()}, {"byte_size", -1}}).status,
            400);
}

TEST_F(SharedTensors, TheServerMustSayThatItOffersThem) {
  options_.shared_memory = false;
  start();
  EXPECT_EQ(add_region().status, 501);
  EXPECT_THAT(client().get(std::string(kRegions) + "/status").body, HasSubstr("--shared-memory"));
  EXPECT_THAT(infer(part(0, kImageBytes)).body, HasSubstr("not offered"));
}

TEST_F(SharedTensors, TheirCopiesAreLimitedAsBodiesAre) {
  options_.http.body_bytes = kImageBytes - 1;
  start();
  ASSERT_EQ(add_region().status, 200);
  EXPECT_THAT(infer(part(0, kImageBytes)).body, HasSubstr("more than 4095 bytes"));
}

}  // namespace
}  // namespace millrace::test
