// Streams of inference requests over gRPC.
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "tests/serve/grpc_fixture.h"

namespace millrace::test {
namespace {

using inference::ModelStreamInferResponse;
using ::testing::HasSubstr;

using GrpcStream = GrpcServe;

TEST_F(GrpcStream, AnswersComeInTheOrderOfCompletion) {
  start();
  faults().hold();
  grpc::ClientContext context;
  const auto stream = grpc_->ModelStreamInfer(&context);
  EXPECT_TRUE(stream->Write(tiny_request("held")));
  faults().await_arrivals(1);
  ModelInferRequest wrong = tiny_request("wrong");
  wrong.mutable_inputs(0)->set_name("datum");
  EXPECT_TRUE(stream->Write(wrong));
  ModelStreamInferResponse answer;
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.infer_response().id(), "wrong");
  EXPECT_THAT(answer.error_message(), HasSubstr("\"datum\""));
  faults().release();
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.infer_response().id(), "held");
  EXPECT_EQ(answer.error_message(), "");
  EXPECT_EQ(answer.infer_response().raw_output_contents_size(), 1);
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_TRUE(stream->Finish().ok());
}

// The queue holds as many jobs as a stream may have, so one that was read too early would be
// refused.
TEST_F(GrpcStream, NoMoreIsReadWhileTooManyAreInFlight) {
  constexpr int kRequests = 150;
  start();
  faults().hold();
  grpc::ClientContext context;
  const auto stream = grpc_->ModelStreamInfer(&context);
  std::thread writer([&] {
    for (int i = 0; i < kRequests; ++i) stream->Write(tiny_request(std::to_string(i)));
    stream->WritesDone();
  });
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 64; }));
  faults().release();
  std::set<std::string> ids;
  ModelStreamInferResponse answer;
  while (stream->Read(&answer)) {
    EXPECT_EQ(answer.error_message(), "");
    ids.insert(answer.infer_response().id());
  }
  writer.join();
  EXPECT_EQ(ids.size(), size_t{kRequests});
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(GrpcStream, ACancelledStreamCancelsAllItsJobs) {
  start();
  faults().hold();
  grpc::ClientContext context;
  const auto stream = grpc_->ModelStreamInfer(&context);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream->Write(tiny_request()));
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 3; }));
  context.TryCancel();
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 0; }));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(GrpcStream, ADrainEndsStreamsWithTheirLastAnswer) {
  serve::Server& server = start();
  faults().hold();
  grpc::ClientContext context, idle_context;
  const auto stream = grpc_->ModelStreamInfer(&context);
  const auto idle = grpc_->ModelStreamInfer(&idle_context);
  EXPECT_TRUE(stream->Write(tiny_request("last")));
  faults().await_arrivals(1);
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  ModelStreamInferResponse answer;
  EXPECT_FALSE(idle->Read(&answer));
  EXPECT_EQ(idle->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  faults().release();
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.infer_response().id(), "last");
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(drained.get());
}

// The deadline ends the test if the server does not end the stream.
TEST_F(GrpcStream, AClientThatTakesNoAnswersIsCutOff) {
  options_.http.body_seconds = 0.05;
  start();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  const auto stream = grpc_->ModelStreamInfer(&context);
  while (stream->Write(tiny_request())) {
  }
  ModelStreamInferResponse answer;
  while (stream->Read(&answer)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(eventually([&] { return infer(tiny_request()).ok(); }));
}

// Its connection would never be idle otherwise. The deadline ends the test if the server does not.
TEST_F(GrpcStream, AStreamThatStaysSilentIsCutOff) {
  options_.http.idle_seconds = 0.05;
  start();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  const auto stream = grpc_->ModelStreamInfer(&context);
  ModelStreamInferResponse answer;
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(GrpcStream, AServerThatIsDestroyedEndsStreams) {
  start();
  grpc::ClientContext context;
  const auto stream = grpc_->ModelStreamInfer(&context);
  EXPECT_TRUE(stream->Write(tiny_request()));
  ModelStreamInferResponse answer;
  EXPECT_TRUE(stream->Read(&answer));
  stop();
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_FALSE(stream->Finish().ok());
}

}  // namespace
}  // namespace millrace::test
