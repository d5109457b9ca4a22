// Requests that are joined along the open leading dimension of a model.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "serve/batching/joined_rows.h"
#include "serve/server.h"
#include "source_dir.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/serve/http_client.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class RowBatching : public ::testing::Test {
 protected:
  static constexpr size_t kPixels = 32 * 32;
  static constexpr int64_t kOpen = -1;

  RowBatching() {
    options_.models = {directory_.file("glyphs.rai")};
    options_.http_port = 0;
    options_.batch = 3;
    options_.batch_delay_seconds = 3600;
  }

  void write(const Result<graph::CompiledModel>& model) {
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    ASSERT_TRUE(
        model::write_archive(graph::encode(*model), options_.models[0], model::ArchiveForm::kFile)
            .ok());
  }
  void write_glyphs() {
    compiler::CompileOptions open;
    open.input_shapes["image"] = {kOpen, 1, 32, 32};
    write(compiler::compile(MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx", open));
  }

  // A request of some pictures, which differ by `n`.
  static std::string pictures(size_t n, size_t rows = 1, const std::string& parameters = "") {
    std::string bytes(rows * kPixels * sizeof(float), '\0');
    for (size_t i = 0; i < rows * kPixels; ++i) {
      const float pixel = static_cast<float>((i * 37 + n * 11) % 256) / 255;
      std::memcpy(bytes.data() + i * sizeof(float), &pixel, sizeof(float));
    }
    const std::string head = fmt::format(
        R"({{"inputs":[{{"name":"image","datatype":"FP32","shape":[{},1,32,32],"parameters":)"
        R"({{"binary_data_size":{}}}}}]{}}})",
        rows, bytes.size(), parameters);
    return post_text("/v2/models/glyphs/infer", head + bytes,
                     fmt::format("Inference-Header-Content-Length: {}\r\n", head.size()));
  }

  // The number of jobs, and of their rows.
  static std::string jobs(serve::Server& server) {
    const std::string text = HttpClient(server.port()).get("/metrics").body;
    std::string found;
    for (const char* const part : {"count", "sum"}) {
      const std::string name =
          fmt::format("millrace_job_frames_{}{{model=\"glyphs\",version=\"1\"}} ", part);
      const size_t at = text.find(name);
      if (at == std::string::npos) return text;
      found += text.substr(at + name.size(), text.find('\n', at) - at - name.size()) + " ";
    }
    return found;
  }

  // A job may be counted after its answers.
  static bool has_jobs(serve::Server& server, const std::string& wanted) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (jobs(server) != wanted) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  // Starts a server that joins rows. Null where the processor's kernels, such as oneDNN's for AVX2,
  // give a row other bits among others than alone, so that the server refuses to.
  std::unique_ptr<serve::Server> start_joining() {
    auto server = serve::Server::start(options_);
    if (server.ok()) return std::move(server).value();
    EXPECT_EQ(server.status().code(), StatusCode::kUnsupported) << server.status().to_string();
    EXPECT_THAT(server.status().message(), HasSubstr("kernels for this processor sum in another"));
    return nullptr;
  }

  const TemporaryDirectory directory_;
  serve::Options options_;
};

TEST_F(RowBatching, RequestsHaveTheBitsThatTheyHaveAlone) {
  write_glyphs();
  const auto together = start_joining();
  if (together == nullptr) GTEST_SKIP() << "rows have other bits among others than alone";
  options_.batch_delay_seconds = 0;
  const auto alone = serve::Server::start(options_).value();
  const std::vector<std::string> requests = {pictures(1), pictures(2, 2)};
  std::vector<HttpClient> clients;
  for (const std::string& request : requests) clients.emplace_back(together->port()).send(request);
  for (size_t n = 0; n < requests.size(); ++n) {
    const HttpAnswer answer = clients[n].receive();
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body, HttpClient(alone->port()).ask(requests[n]).body);
    EXPECT_EQ(json::parse(answer.body)["outputs"][0]["shape"], json({n + 1, 40}));
  }
  EXPECT_TRUE(has_jobs(*together, "1 3 ")) << jobs(*together);
}

TEST_F(RowBatching, ABatchLeavesForADeadlineThatWouldPassMeanwhile) {
  write_glyphs();
  const auto server = start_joining();
  if (server == nullptr) GTEST_SKIP() << "rows have other bits among others than alone";
  HttpClient patient(server->port());
  patient.send(pictures(1));
  const std::string hurried = pictures(2, 1, R"(,"parameters":{"timeout":60000000})");
  EXPECT_EQ(HttpClient(server->port()).ask(hurried).status, 200);
  EXPECT_EQ(patient.receive().status, 200);
  EXPECT_TRUE(has_jobs(*server, "1 2 ")) << jobs(*server);
}

TEST_F(RowBatching, ARequestOfMoreRowsThanABatchRunsAlone) {
  write_glyphs();
  const auto server = start_joining();
  if (server == nullptr) GTEST_SKIP() << "rows have other bits among others than alone";
  const HttpAnswer answer = HttpClient(server->port()).ask(pictures(1, 4));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["outputs"][0]["shape"], json({4, 40}));
}

// A row alone may be computed by other loops than several rows.
TEST_F(RowBatching, RowsOfALayerAreJoined) {
  constexpr int64_t kSize = 512;
  compiler::test::Floats weights(kSize * kSize);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i * 7919 % 2003) / 1000 - 1;
  compiler::test::Model model;
  model.input("x", {kOpen, kSize})
      .floats("w", {kSize, kSize}, weights)
      .floats("b", {kSize}, {weights.begin(), weights.begin() + kSize})
      .node("Gemm", {"x", "w", "b"}, {"g"})
      .node("Relu", {"g"}, {"y"})
      .output("y", onnx::TensorProto::FLOAT);
  compiler::CompileOptions open;
  open.input_shapes["x"] = {kOpen, kSize};
  write(compiler::compile_content(model.bytes(), "glyphs.onnx", open));
  if (start_joining() == nullptr) GTEST_SKIP() << "rows have other bits among others than alone";
}

TEST_F(RowBatching, RowsThatDependOnEachOtherAreNotJoined) {
  compiler::test::Model model;
  model.input("x", {kOpen, 4})
      .node("Softmax", {"x"}, {"y"}, {{"axis", 0}})
      .output("y", onnx::TensorProto::FLOAT);
  compiler::CompileOptions open;
  open.input_shapes["x"] = {kOpen, 4};
  write(compiler::compile_content(model.bytes(), "glyphs.onnx", open));
  EXPECT_THAT(serve::Server::start(options_).status().message(),
              HasSubstr("a row of output \"y\" has other bits among 2 rows than alone"));
  options_.batch_delay_seconds = 0;
  EXPECT_TRUE(serve::Server::start(options_).ok());
}

TEST_F(RowBatching, NeedsTheNumberOfRows) {
  write_glyphs();
  options_.batch = 1;
  EXPECT_THAT(serve::Server::start(options_).status().message(),
              HasSubstr("say by --batch how many rows a job may have, from 2 to 32"));
}

class Member final : public serve::BatchMember {
 public:
  uint32_t frames() const noexcept override { return 1; }
  Deadline deadline() const noexcept override { return kNoDeadline; }
  void bind(std::vector<TensorArg>&, std::vector<TensorArg>&) override {}
  std::span<const std::byte> input(size_t) const noexcept override { return {}; }
  void take_output(size_t, const TensorShape&, std::span<const std::byte>) noexcept override {}
  void ran(const JobSpan&) noexcept override {}
  void finish(const Status&) noexcept override {}
  void keep_for_good() noexcept override {}
};

TEST(JoinedRows, AJobThatHangsKeepsTheTensorsAndNotTheRequests) {
  const serve::RowForm form;
  auto member = std::make_shared<Member>();
  const std::weak_ptr<Member> watched = member;
  const std::weak_ptr<serve::JoinedRows> kept = [&] {
    auto rows = serve::JoinedRows::of(form, {std::move(member)});
    const std::weak_ptr<serve::JoinedRows> kept = rows;
    serve::JoinedRows::keep_for_good(std::move(rows));
    return kept;
  }();
  EXPECT_FALSE(kept.expired());
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace millrace::test
