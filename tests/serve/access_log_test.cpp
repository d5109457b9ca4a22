// The access log: what its lines say, and that it never holds up a request.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "serve/access_log/access_log.h"
#include "tests/serve/access_log_lines.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class AccessLog : public Serve {
 protected:
  AccessLog() { options_.access_log = log_directory_.file("access.log"); }

  // The lines, after the end of the server, which writes all.
  std::vector<nlohmann::json> lines() {
    stop();
    return access_lines(options_.access_log);
  }
  std::string text() {
    stop();
    std::ifstream file(options_.access_log);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryDirectory log_directory_;
};

TEST_F(AccessLog, HasALineForEachRequest) {
  start();
  HttpClient client = this->client();
  const std::string body = tiny_body();
  const std::string with_id = R"({"id":"order 7",)" + body.substr(1);
  const HttpAnswer answer =
      client.post(kInferPath, with_id, std::string("traceparent: ") + kTraceParent + "\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(client.get("/v2/models/nobody").status, 404);
  const auto lines = this->lines();
  ASSERT_EQ(lines.size(), 2U);
  const auto& inferred = lines[0];
  EXPECT_THAT(std::string(inferred["time"]), MatchesRegex("20..-..-..T..:..:..[.]...Z"));
  EXPECT_THAT(std::string(inferred["remote"]), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(inferred["protocol"], "HTTP");
  EXPECT_EQ(inferred["method"], "POST");
  EXPECT_EQ(inferred["path"], kInferPath);
  EXPECT_EQ(inferred["model"], "tiny");
  EXPECT_EQ(inferred["version"], "1");
  EXPECT_EQ(inferred["id"], "order 7");
  EXPECT_EQ(inferred["status"], 200);
  EXPECT_EQ(inferred["bytes_in"], with_id.size());
  EXPECT_EQ(inferred["bytes_out"], answer.body.size());
  EXPECT_GT(inferred["duration_ms"], 0);
  EXPECT_GE(inferred["queue_ms"], 0);
  EXPECT_GE(inferred["compute_ms"], 0);
  EXPECT_EQ(inferred["trace_id"], kTraceId);
  EXPECT_EQ(inferred["parent_id"], "00f067aa0ba902b7");
  EXPECT_EQ(inferred["sampled"], true);
  EXPECT_EQ(lines[1]["status"], 404);
  EXPECT_FALSE(lines[1].contains("model"));
  EXPECT_FALSE(lines[1].contains("queue_ms"));
  EXPECT_FALSE(lines[1].contains("trace_id"));
}

// Limits of the server and a wrong token refuse before any handler answers.
TEST_F(AccessLog, NamesRefusalsAndNoSecret) {
  options_.token_file = log_directory_.file("token");
  std::ofstream(options_.token_file) << "a-secret\n";
  options_.http.body_bytes = 1000;
  start();
  client().post(kInferPath, "{}", "Authorization: Bearer a-wrong-secret\r\n");
  client().post(kInferPath, std::string(2000, ' '), "Authorization: Bearer a-secret\r\n");
  client().ask("this is no request\r\n\r\n");
  client().get("/v2/models/tiny?token=a-secret");
  const std::string text = this->text();
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_THAT(text, HasSubstr(R"("status":401)"));
  EXPECT_THAT(text, HasSubstr(R"("status":413)"));
  EXPECT_THAT(text, HasSubstr(R"("status":400)"));
}

TEST_F(AccessLog, HasShortLinesOfValidTextForHostileRequests) {
  start();
  HttpClient client = this->client();
  client.get("/v2/models/" + std::string(8000, 'x'));
  client.get("/v2/models/\xff\xfe");
  const std::string body = tiny_body();
  client.post(kInferPath,
              R"({"id":"a\nb\u0001)" + std::string(4000, 'i') + R"(",)" + body.substr(1));
  const auto lines = this->lines();
  ASSERT_EQ(lines.size(), 3U);
  for (const auto& line : lines) {
    EXPECT_FALSE(line.is_discarded());
    EXPECT_LT(line.dump().size(), 2000U);
  }
  EXPECT_THAT(std::string(lines[2]["id"]), HasSubstr("a\nb"));
}

TEST_F(AccessLog, IsOpenedAgainAfterARotation) {
  serve::Server& server = start();
  client().get("/v2/health/live");
  const auto has_line = [](const std::string& path) { return !access_lines(path).empty(); };
  EXPECT_TRUE(eventually([&] { return has_line(options_.access_log); }));
  const std::string old = options_.access_log + ".1";
  std::filesystem::rename(options_.access_log, old);
  server.reopen_log();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(options_.access_log); }));
  client().get("/v2/health/ready");
  EXPECT_EQ(lines().size(), 1U);
  EXPECT_EQ(access_lines(old).size(), 1U);
}

TEST_F(AccessLog, ThatCannotBeOpenedIsNamed) {
  options_.access_log = "/nowhere/access.log";
  ASSERT_TRUE(write_tiny_model(options_.models[0]).ok());
  const auto server = serve::Server::start(options_);
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(server.status().message(), HasSubstr("/nowhere/access.log"));
}

// Nobody reads the pipe: each line is written or counted, and the end does not wait for long.
TEST_F(AccessLog, NeverWaitsForAReader) {
  const std::string pipe = log_directory_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(reader);
  constexpr uint64_t kLines = 20'000;
  std::atomic<uint64_t> dropped = 0;
  {
    auto log = serve::AccessLog::open(pipe, [&] { ++dropped; });
    ASSERT_TRUE(log.ok()) << log.status().to_string();
    serve::AccessRecord record;
    record.path = "/v2";
    for (uint64_t i = 0; i < kLines; ++i) (*log)->write(record);
  }
  std::string text(1 << 20, '\0');
  const ssize_t size = ::read(reader.get(), text.data(), text.size());
  ASSERT_GT(size, 0);
  const auto written = std::count(text.begin(), text.begin() + size, '\n');
  EXPECT_EQ(static_cast<uint64_t>(written) + dropped, kLines);
}

TEST_F(AccessLog, CountsDroppedLinesInTheMetrics) {
  options_.access_log = "/dev/full";
  start();
  client().get("/v2/health/live");
  EXPECT_TRUE(eventually([&] {
    return client().get("/metrics").body.find("millrace_access_log_dropped_total 0\n") ==
           std::string::npos;
  }));
}

TEST(TraceContext, ReadsWhatTheSpecificationSays) {
  const auto context = serve::parse_traceparent(kTraceParent);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->trace_id, kTraceId);
  EXPECT_TRUE(context->sampled);
  const std::string ids = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
  EXPECT_FALSE(serve::parse_traceparent("00-" + ids + "-02")->sampled);
  EXPECT_TRUE(serve::parse_traceparent("cc-" + ids + "-01-of-a-later-version"));
  const std::string no_trace(32, '0'), no_parent(16, '0');
  const std::vector<std::string> malformed = {
      "",
      "00-" + ids,
      "00-" + ids + "-01-more",
      "cc-" + ids + "-01more",
      "ff-" + ids + "-01",
      "00-" + ids + "-0x",
      "00_" + ids + "-01",
      "00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-" + no_trace + "-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-" + no_parent + "-01"};
  for (const std::string& value : malformed) EXPECT_FALSE(serve::parse_traceparent(value)) << value;
  serve::HttpRequest twice;
  twice.fields = {{"Traceparent", kTraceParent}, {"traceparent", kTraceParent}};
  EXPECT_FALSE(serve::trace_context_of(twice));
}

}  // namespace
}  // namespace millrace::test
