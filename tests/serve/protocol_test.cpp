// The Open Inference Protocol: what a client reads about server and models, and each error.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using Protocol = Serve;

TEST_F(Protocol, HealthAndMetadata) {
  start();
  HttpClient one = client();
  EXPECT_EQ(one.get("/v2/health/live").status, 200);
  EXPECT_EQ(json::parse(one.get("/v2/health/ready").body), json({{"ready", true}}));
  EXPECT_EQ(json::parse(one.get("/v2").body)["extensions"],
            json({"binary_tensor_data", "classification", "model_repository", "statistics"}));
  EXPECT_EQ(one.get("/v2/models/tiny/versions/1/ready").status, 200);
  const json model = json::parse(one.get("/v2/models/tiny").body);
  EXPECT_EQ(model["name"], "tiny");
  EXPECT_EQ(model["versions"], json({"1"}));
  EXPECT_EQ(model["inputs"],
            json::parse(R"([{"name":"data","datatype":"FP32","shape":[1,3,4,4]}])"));
  EXPECT_EQ(model["outputs"],
            json::parse(R"([{"name":"probs","datatype":"FP32","shape":[1,10,4,4]}])"));
}

TEST_F(Protocol, ErrorsOfPathMethodAndHeader) {
  options_.http.body_bytes = 1000;
  start();
  HttpClient one = client();
  EXPECT_EQ(one.get("/v2/models/none").status, 404);
  EXPECT_EQ(one.get("/v2/models/tiny/versions/2").status, 404);
  EXPECT_EQ(one.get("/v2/models/tiny/none").status, 404);
  const HttpAnswer wrong_method = one.get(kInferPath);
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.fields.at("allow"), "POST");
  EXPECT_TRUE(json::parse(wrong_method.body).contains("error"));
  EXPECT_EQ(client().ask("POST /v2/models/tiny/infer HTTP/1.1\r\n\r\n").status, 411);
  EXPECT_EQ(client().post(kInferPath, std::string(1001, ' ')).status, 413);
  EXPECT_EQ(client()
                .ask("POST /v2/models/tiny/infer HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "800\r\n" +
                     std::string(0x800, ' ') + "\r\n0\r\n\r\n")
                .status,
            413);
  EXPECT_EQ(client().post(kInferPath, tiny_body(), "Content-Encoding: zstd\r\n").status, 415);
  EXPECT_EQ(client().ask("GET /v2 HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n").status,
            431);
  EXPECT_EQ(client().ask("this is no request\r\n\r\n").status, 400);
}

// Replaces parts of a request that is right.
std::string with(std::string body, const std::string& part, const std::string& other) {
  return body.replace(body.find(part), part.size(), other);
}

TEST_F(Protocol, WrongBodiesAreNamed) {
  start();
  HttpClient one = client();
  const std::string right = tiny_body();
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "JSON"},
      {"[]", "no JSON object"},
      {right.substr(0, right.size() - 1), "JSON"},
      {R"({"inputs":[]})", "\"data\" of the model is missing"},
      {with(right, "data\"", "image\""), "no input \"image\""},
      {with(right, "FP32", "FP64"), "has the datatype FP32"},
      {with(right, "[1,3,4,4]", "[1,3,4,-4]"), "takes the shape [1,3,4,4], not [1,3,4,-4]"},
      {with(right, "[1,3,4,4]", "[1,3,4,4000000000000]"), "takes the shape"},
      {with(right, "[1,3,4,4]", "[1,3,4]"), "takes the shape"},
      {with(right, "[1,3,4,4]", "[1,1,1,1,1,1,1,1,1]"), "more than 8 dimensions"},
      {with(right, "[1,3,4,4]", "[99999999999999999999]"), "wrong type"},
      {with(right, "[1,3,4,4]", "\"all\""), "wrong type"},
      {with(right, "[0,", "["), "has 48 elements, not 47"},
      {with(right, "[0,", "[0,0,"), "more than 48 elements"},
      {with(right, "[0,", "[[0],"), "not nested as its shape"},
      {with(right, "[0,", "[true,"), "element 0 of input \"data\" is no FP32"},
      {with(right, "[0,", "[\"0\","), "strings"},
      {with(right, "[0,", "[null,"), "wrong type"},
      {with(right, "[0,", "[1e999,"), "JSON"},
      {with(right, "[0,", std::string(100, '[')), "nested more than"},
      {with(right, "\"data\":[0", "\"parameters\":{\"binary_data_size\":192},\"data\":[0"),
       "both data and a binary_data_size"},
      {tiny_body(R"("timeout":-1)"), "\"timeout\" is negative"},
      {tiny_body(R"("timeout":"soon")"), "\"timeout\" is not a number"},
      {tiny_body(R"("sequence_id":1)"), "\"sequence_id\" belongs to an extension"},
      {with(right, "}]}", R"(}],"outputs":[{"name":"none"}]})"), "no output \"none\""},
      {with(right, "}]}", R"(}],"outputs":[{"name":"probs"},{"name":"probs"}]})"), "1 outputs"},
  };
  for (const auto& [body, message] : wrong) {
    const HttpAnswer answer = one.post(kInferPath, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(json::parse(answer.body)["error"].get<std::string>(), HasSubstr(message)) << body;
  }
  EXPECT_EQ(one.post(kInferPath, right).status, 200);
}

TEST_F(Protocol, WrongRawTensorsAreNamed) {
  start();
  HttpClient one = client();
  const auto ask = [&](int64_t size, const std::string& raw) {
    const std::string text = fmt::format(
        R"({{"inputs":[{{"name":"data","shape":[1,3,4,4],"datatype":"FP32","parameters":{{"binary_data_size":{}}}}}]}})",
        size);
    return one.post(kInferPath, text + raw,
                    fmt::format("Inference-Header-Content-Length: {}\r\n", text.size()));
  };
  EXPECT_EQ(ask(192, std::string(192, 'x')).status, 200);
  EXPECT_THAT(ask(-1, std::string(192, 'x')).body, HasSubstr("has 192 bytes, not -1"));
  EXPECT_THAT(ask(192, std::string(191, 'x')).body, HasSubstr("and the body only 191 more"));
  EXPECT_THAT(ask(192, std::string(193, 'x')).body, HasSubstr("1 bytes more than"));
  for (const char* length : {"9999", "-1", "18446744073709551616", "x"})
    EXPECT_EQ(client()
                  .post(kInferPath, tiny_body(),
                        fmt::format("Inference-Header-Content-Length: {}\r\n", length))
                  .status,
              400);
}

TEST_F(Protocol, MetricsCountRequestsByModelAndCode) {
  start();
  HttpClient one = client();
  one.post(kInferPath, tiny_body());
  one.post(kInferPath, "{}");
  const HttpAnswer answer = one.get("/metrics");
  EXPECT_THAT(answer.fields.at("content-type"), HasSubstr("text/plain"));
  for (const char* line : {R"(millrace_requests_total{code="200",model="tiny",version="1"} 1)",
                           R"(millrace_requests_total{code="400",model="tiny",version="1"} 1)",
                           R"(millrace_request_duration_seconds_count{model="tiny",version="1"} 2)",
                           R"(millrace_jobs_in_flight{model="tiny",version="1"} 0)",
                           R"(millrace_input_copied_bytes_total{model="tiny",version="1"} 0)",
                           "millrace_http_connections 1", "millrace_build_info{version="})
    EXPECT_THAT(answer.body, HasSubstr(line));
}

TEST_F(Protocol, StatisticsCountByModel) {
  start();
  HttpClient one = client();
  one.post(kInferPath, tiny_body());
  one.post(kInferPath, "{}");
  for (const char* path :
       {"/v2/models/tiny/stats", "/v2/models/tiny/versions/1/stats", "/v2/models/stats"}) {
    const json models = json::parse(one.get(path).body)["model_stats"];
    ASSERT_EQ(models.size(), 1U) << path;
    EXPECT_EQ(models[0]["name"], "tiny");
    EXPECT_EQ(models[0]["inference_count"], 1);
    EXPECT_EQ(models[0]["inference_stats"]["success"]["count"], 1);
    EXPECT_EQ(models[0]["inference_stats"]["fail"]["count"], 1);
    EXPECT_EQ(models[0]["inference_stats"]["queue"]["count"], 1);
    EXPECT_EQ(models[0]["inference_stats"]["compute_infer"]["count"], 1);
    for (const char* const part : {"compute_input", "compute_output"}) {
      EXPECT_EQ(models[0]["inference_stats"][part]["count"], 1) << part;
      EXPECT_GT(models[0]["inference_stats"][part]["ns"], 0) << part;
    }
    EXPECT_GT(models[0]["last_inference"], 0);
  }
  EXPECT_EQ(one.get("/v2/models/none/stats").status, 404);
}

TEST_F(Protocol, ExtensionsThatAreNotOfferedAreNamed) {
  start();
  for (const auto& [path, extension] : {std::pair("/v2/trace/setting", "trace"),
                                        {"/v2/models/tiny/trace/setting", "trace"},
                                        {"/v2/logging", "logging"},
                                        {"/v2/cudasharedmemory/status", "cuda_shared_memory"},
                                        {"/v2/models/tiny/config", "model_configuration"}}) {
    for (const HttpAnswer& answer : {client().get(path), client().post(path, "{}")}) {
      EXPECT_EQ(answer.status, 501) << path;
      EXPECT_THAT(answer.body, HasSubstr(extension));
    }
  }
}

TEST_F(Protocol, ParametersAreBounded) {
  start();
  const auto ask = [&](int parameters) {
    std::string text = R"("p":1)";
    for (int i = 1; i < parameters; ++i) text += fmt::format(R"(,"{}":1)", i);
    return client().post(kInferPath, tiny_body(text));
  };
  EXPECT_EQ(ask(1024).status, 200);
  EXPECT_THAT(ask(1025).body, HasSubstr("more than 1024 parameters"));
}

TEST_F(Protocol, AUnixSocketIsServedToo) {
  const TemporaryDirectory directory;
  options_.unix_socket = directory.file("socket");
  start();
  EXPECT_EQ(HttpClient(options_.unix_socket).post(kInferPath, tiny_body()).status, 200);
  EXPECT_EQ(client().get("/v2/health/live").status, 200);
  serve::Options others = options_;
  EXPECT_THAT(serve::Server::start(others).status().message(), HasSubstr("in use"));
  others.unix_socket = std::string(200, 'x');
  EXPECT_THAT(serve::Server::start(others).status().message(), HasSubstr("more than 107 bytes"));
}

TEST_F(Protocol, ATokenIsAskedOfAllButProbes) {
  const TemporaryDirectory directory;
  options_.token_file = directory.file("token");
  std::ofstream(options_.token_file) << "a secret\n";
  serve::Server& server = start();
  HttpClient one = client();
  EXPECT_EQ(one.get("/v2/health/live").status, 200);
  EXPECT_EQ(one.get("/v2/health/ready").status, 200);
  const HttpAnswer refused = one.get("/v2/models/tiny");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.fields.at("www-authenticate"), "Bearer");
  for (const char* wrong : {"a secre", "a secret!", "", "A secret"})
    EXPECT_EQ(client()
                  .post(kInferPath, tiny_body(), fmt::format("Authorization: Bearer {}\r\n", wrong))
                  .status,
              401);
  EXPECT_EQ(client().post(kInferPath, tiny_body(), "Authorization: Bearer a secret\r\n").status,
            200);
  const auto asks_with = [&](const char* token) {
    return client()
        .post(kInferPath, tiny_body(), fmt::format("Authorization: Bearer {}\r\n", token))
        .status;
  };
  std::ofstream(options_.token_file) << "another\n";
  server.reread_files();
  EXPECT_EQ(asks_with("a secret"), 401);
  EXPECT_EQ(asks_with("another"), 200);
  std::ofstream(options_.token_file) << "\n";
  server.reread_files();
  EXPECT_EQ(asks_with("another"), 200);
  EXPECT_THAT(serve::Server::start(options_).status().message(), HasSubstr("has no token"));
}

}  // namespace
}  // namespace millrace::test
