// The lines of the access log for calls of gRPC.
#include <gmock/gmock.h>

#include <string>

#include "tests/serve/access_log_lines.h"
#include "tests/serve/grpc_fixture.h"

namespace millrace::test {
namespace {

using ::testing::StartsWith;

TEST_F(GrpcServe, CallsHaveLinesInTheAccessLog) {
  const TemporaryDirectory directory;
  options_.access_log = directory.file("access.log");
  start();
  grpc::ClientContext context;
  context.AddMetadata("traceparent", kTraceParent);
  ModelInferResponse response;
  const grpc::Status status = grpc_->ModelInfer(&context, tiny_request("order 7"), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  ModelInferRequest unknown = tiny_request();
  unknown.set_model_name("nobody");
  EXPECT_FALSE(infer(unknown).ok());
  stop();
  const auto lines = access_lines(options_.access_log);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["protocol"], "gRPC");
  EXPECT_EQ(lines[0]["method"], "ModelInfer");
  EXPECT_THAT(std::string(lines[0]["remote"]), StartsWith("127.0.0.1:"));
  EXPECT_EQ(lines[0]["model"], "tiny");
  EXPECT_EQ(lines[0]["id"], "order 7");
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_EQ(lines[0]["trace_id"], kTraceId);
  EXPECT_EQ(lines[1]["status"], 404);
}

}  // namespace
}  // namespace millrace::test
