// The calls of the protocol over gRPC, with a client that gRPC generates.
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "serve/grpc/calls.h"
#include "serve/grpc/grpc_status.h"
#include "serve/grpc/typed_contents.h"
#include "source_dir.h"
#include "tests/serve/grpc_fixture.h"

namespace millrace::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

using GrpcCalls = GrpcServe;

TEST_F(GrpcCalls, TheServerAnswersForItself) {
  start();
  grpc::ClientContext live, ready, metadata;
  inference::ServerLiveResponse is_live;
  EXPECT_TRUE(grpc_->ServerLive(&live, {}, &is_live).ok());
  EXPECT_TRUE(is_live.live());
  inference::ServerReadyResponse is_ready;
  EXPECT_TRUE(grpc_->ServerReady(&ready, {}, &is_ready).ok());
  EXPECT_TRUE(is_ready.ready());
  inference::ServerMetadataResponse about;
  EXPECT_TRUE(grpc_->ServerMetadata(&metadata, {}, &about).ok());
  EXPECT_EQ(about.name(), "millrace");
  EXPECT_FALSE(about.version().empty());
  EXPECT_THAT(about.extensions(), Contains("classification"));
}

TEST_F(GrpcCalls, AModelSaysWhatItTakesAndGives) {
  start();
  inference::ModelReadyRequest which;
  which.set_name("tiny");
  which.set_version("1");
  grpc::ClientContext ready, unknown, metadata;
  inference::ModelReadyResponse is_ready;
  EXPECT_TRUE(grpc_->ModelReady(&ready, which, &is_ready).ok());
  EXPECT_TRUE(is_ready.ready());
  which.set_version("2");
  const grpc::Status missing = grpc_->ModelReady(&unknown, which, &is_ready);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(missing.error_message(), HasSubstr("no version \"2\""));
  inference::ModelMetadataRequest what;
  what.set_name("tiny");
  inference::ModelMetadataResponse about;
  EXPECT_TRUE(grpc_->ModelMetadata(&metadata, what, &about).ok());
  EXPECT_EQ(about.platform(), "millrace");
  EXPECT_THAT(about.versions(), ElementsAre("1"));
  ASSERT_EQ(about.inputs_size(), 1);
  EXPECT_EQ(about.inputs(0).name(), kTinyInput);
  EXPECT_EQ(about.inputs(0).datatype(), "FP32");
  EXPECT_THAT(about.inputs(0).shape(), ElementsAre(1, 3, 4, 4));
  EXPECT_EQ(about.outputs(0).name(), kTinyOutput);
}

TEST_F(GrpcCalls, AnAnswerHasTheIdAndTheFormOfItsRequest) {
  start();
  ModelInferRequest request = tiny_request("seven");
  grpc::ClientContext raw, typed;
  ModelInferResponse response;
  ASSERT_TRUE(grpc_->ModelInfer(&raw, request, &response).ok());
  EXPECT_EQ(response.id(), "seven");
  EXPECT_EQ(response.model_name(), "tiny");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(1, 10, 4, 4));
  EXPECT_FALSE(response.outputs(0).has_contents());
  EXPECT_EQ(response.raw_output_contents(0).size(), 160 * sizeof(float));
  request.clear_raw_input_contents();
  for (int i = 0; i < 48; ++i) request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  ASSERT_TRUE(grpc_->ModelInfer(&typed, request, &response).ok());
  EXPECT_EQ(response.raw_output_contents_size(), 0);
  EXPECT_EQ(response.outputs(0).contents().fp32_contents_size(), 160);
  EXPECT_TRUE(counts(R"(millrace_requests_total{code="200",model="tiny",version="1"} 2)"));
}

TEST_F(GrpcCalls, WhatDoesNotFitIsNamed) {
  start();
  const auto refusal = [&](auto change) {
    ModelInferRequest request = tiny_request();
    change(request);
    const grpc::Status status = infer(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(refusal([](auto& r) { r.add_raw_input_contents("more"); }),
              HasSubstr("1 inputs and 2 raw_input_contents"));
  EXPECT_THAT(
      refusal([](auto& r) { r.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1); }),
      HasSubstr("\"data\" has contents"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_inputs(0)->set_datatype("FP8"); }),
              HasSubstr("\"FP8\""));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_inputs(0)->set_name("datum"); }),
              HasSubstr("\"datum\""));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_raw_input_contents(0)->resize(4); }),
              HasSubstr("has 192 bytes, not 4"));
  EXPECT_THAT(refusal([](auto& r) {
                r.clear_raw_input_contents();
                r.mutable_inputs(0)->mutable_contents()->add_int_contents(1);
              }),
              HasSubstr("contents of another type"));
  EXPECT_THAT(refusal([](auto& r) { (*r.mutable_parameters())["sequence_id"].set_int64_param(1); }),
              HasSubstr("sequence_id"));
  EXPECT_THAT(refusal([](auto& r) { r.clear_model_name(); }), HasSubstr("names no model"));
  EXPECT_EQ(infer([] {
              ModelInferRequest request = tiny_request();
              request.set_model_name("a/../tiny");
              return request;
            }())
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(counts(R"(millrace_requests_total{code="400",model="tiny",version="1"} 7)"));
}

TEST_F(GrpcCalls, TheDeadlineOfACallReachesItsJob) {
  start();
  faults().hold();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  ModelInferResponse response;
  EXPECT_EQ(grpc_->ModelInfer(&context, tiny_request(), &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 0; }));
  ModelInferRequest request = tiny_request();
  (*request.mutable_parameters())["timeout"].set_int64_param(2000);
  EXPECT_EQ(infer(request).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(GrpcCalls, ACancelledCallCancelsItsJob) {
  start();
  faults().hold();
  const auto running = begin(tiny_request());
  faults().await_arrivals(1);
  const auto queued = begin(tiny_request());
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 2; }));
  queued->context.TryCancel();
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 1; }));
  running->context.TryCancel();
  EXPECT_TRUE(eventually([&] { return served().in_flight() == 0; }));
  EXPECT_EQ(queued->wait().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(running->wait().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(counts(R"(reason="cancelled",version="1"} 2)"));
}

TEST_F(GrpcCalls, AFullQueueRefusesAndSaysWhenToTryAgain) {
  options_.queue_depth = 1;
  start();
  faults().hold();
  const auto first = begin(tiny_request());
  faults().await_arrivals(1);
  const auto refused = begin(tiny_request());
  EXPECT_EQ(refused->wait().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused->context.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"), 1U);
  faults().release();
  EXPECT_TRUE(first->wait().ok());
}

TEST_F(GrpcCalls, AMessageThatIsTooLargeIsRefused) {
  options_.http.body_bytes = 1000;
  start();
  ModelInferRequest request = tiny_request();
  request.set_id(std::string(1000, 'x'));
  EXPECT_EQ(infer(request).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(infer(tiny_request()).ok());
}

// Small messages would become large texts otherwise, and a long status breaks the connection.
TEST_F(GrpcCalls, PartsAndNamesAreBounded) {
  start();
  const auto refusal = [&](auto change) {
    ModelInferRequest request = tiny_request();
    change(request);
    const grpc::Status status = infer(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  const std::string name(20'000, 'n');
  EXPECT_THAT(refusal([&](auto& r) { r.set_model_name(name); }), HasSubstr("20000 bytes"));
  EXPECT_THAT(refusal([&](auto& r) { r.set_id(name); }), HasSubstr("the id has 20000 bytes"));
  EXPECT_THAT(refusal([&](auto& r) { r.mutable_inputs(0)->set_name(name); }),
              HasSubstr("the name of an input"));
  EXPECT_THAT(refusal([&](auto& r) { (*r.mutable_parameters())[name].set_bool_param(true); }),
              HasSubstr("the name of a parameter"));
  EXPECT_THAT(refusal([](auto& r) {
                for (int i = 0; i < 2000; ++i) r.add_outputs();
              }),
              HasSubstr("2000 outputs"));
  EXPECT_THAT(refusal([](auto& r) {
                for (int i = 0; i < 2000; ++i)
                  (*r.mutable_parameters())[std::to_string(i)].set_bool_param(true);
              }),
              HasSubstr("more than 1024 parameters"));
  EXPECT_THAT(refusal([](auto& r) { r.mutable_inputs(0)->mutable_shape()->Resize(1000, 1); }),
              HasSubstr("1000 dimensions"));
  inference::ModelReadyRequest which;
  which.set_name(name);
  grpc::ClientContext context;
  inference::ModelReadyResponse response;
  EXPECT_EQ(grpc_->ModelReady(&context, which, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// Nobody knows how large it becomes before it is unpacked.
TEST_F(GrpcCalls, ACompressedMessageIsRefused) {
  start();
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  ModelInferResponse response;
  EXPECT_EQ(grpc_->ModelInfer(&context, tiny_request(), &response).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(infer(tiny_request()).ok());
}

TEST_F(GrpcCalls, AllTensorsTogetherAreLimited) {
  options_.http.all_bodies_bytes = 600;
  start();
  faults().hold();
  const auto first = begin(tiny_request());
  faults().await_arrivals(1);
  const auto second = begin(tiny_request());
  EXPECT_EQ(second->wait().error_code(), grpc::StatusCode::UNAVAILABLE);
  faults().release();
  EXPECT_TRUE(first->wait().ok());
  EXPECT_TRUE(eventually([&] { return infer(tiny_request()).ok(); }));
}

TEST_F(GrpcCalls, AllAnswersTogetherAreLimited) {
  options_.http.all_answers_bytes = 100;
  start();
  const grpc::Status status = infer(tiny_request());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("do not take their answers"));
}

// Otherwise clients that go on trying would keep the server from its end.
TEST(GrpcCallsAtTheEnd, NobodyWaitsForCallsThatBeginLater) {
  struct Fake final : serve::Call {
    void cancel() noexcept override {}
    void take_no_more() override { takes_more = false; }
    void abort() override {}
    bool takes_more = true;
  };
  const auto first = std::make_shared<Fake>(), late = std::make_shared<Fake>();
  serve::Calls calls;
  calls.begin(first);
  calls.take_no_more();
  calls.begin(late);
  EXPECT_FALSE(late->takes_more);
  EXPECT_EQ(late.use_count(), 2);
  EXPECT_FALSE(calls.wait_for_none(std::chrono::steady_clock::now()));
  calls.end(first.get());
  EXPECT_TRUE(calls.wait_for_none(std::chrono::steady_clock::now()));
  calls.end(late.get());
  EXPECT_EQ(late.use_count(), 1);
}

TEST_F(GrpcCalls, ADrainAnswersWhatWasAccepted) {
  serve::Server& server = start();
  faults().hold();
  const auto accepted = begin(tiny_request());
  faults().await_arrivals(1);
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  ASSERT_TRUE(eventually([&] {
    grpc::ClientContext context;
    inference::ServerReadyResponse response;
    return grpc_->ServerReady(&context, {}, &response).ok() && !response.ready();
  }));
  EXPECT_EQ(infer(tiny_request()).error_code(), grpc::StatusCode::UNAVAILABLE);
  faults().release();
  EXPECT_TRUE(accepted->wait().ok());
  EXPECT_TRUE(drained.get());
}

TEST_F(GrpcCalls, ADrainThatTakesTooLongCancels) {
  options_.drain_seconds = 0.02;
  serve::Server& server = start();
  faults().hold();
  const auto accepted = begin(tiny_request());
  faults().await_arrivals(1);
  EXPECT_FALSE(server.drain());
  EXPECT_EQ(accepted->wait().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(GrpcCalls, APortThatIsTakenIsAnError) {
  serve::Server& server = start();
  options_.grpc_port = server.grpc_port();
  const auto second = serve::Server::start(options_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("for gRPC"));
}

// The shipped network computes the same over both halves of the protocol.
class GrpcGlyphs : public ::testing::Test {
 protected:
  static constexpr size_t kPixels = 32 * 32;

  GrpcGlyphs() {
    serve::Options options;
    options.models = {MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx"};
    options.http_port = 0;
    options.grpc_port = 0;
    options.takes_pictures = true;
    options.picture.scale.fill(1 / 255.0F);
    server_ = serve::Server::start(options).value();
    grpc_ = grpc_client(server_->grpc_port());
    for (size_t i = 0; i < kPixels; ++i) {
      pixels_ += static_cast<char>(i * 37 % 256);
      image_.push_back(static_cast<float>(i * 37 % 256) * (1 / 255.0F));
    }
  }

  ModelInferRequest request() const {
    ModelInferRequest request;
    request.set_model_name("glyphs");
    auto& input = *request.add_inputs();
    input.set_name("image");
    input.set_datatype("FP32");
    for (const int64_t size : {1, 1, 32, 32}) input.add_shape(size);
    return request;
  }
  std::string raw_image() const {
    return {reinterpret_cast<const char*>(image_.data()), image_.size() * sizeof(float)};
  }
  ModelInferResponse ask(const ModelInferRequest& request) {
    grpc::ClientContext context;
    ModelInferResponse response;
    const grpc::Status status = grpc_->ModelInfer(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::string scores_over_http() {
    const std::string header =
        R"({"inputs":[{"name":"image","datatype":"FP32","shape":[1,1,32,32],)"
        R"("parameters":{"binary_data_size":4096}}],"parameters":{"binary_data_output":true}})";
    const HttpAnswer answer =
        HttpClient(server_->port())
            .post("/v2/models/glyphs/infer", header + raw_image(),
                  "Inference-Header-Content-Length: " + std::to_string(header.size()) + "\r\n");
    return answer.body.substr(answer.body.size() - 40 * sizeof(float));
  }

  std::unique_ptr<serve::Server> server_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> grpc_;
  std::string pixels_;
  std::vector<float> image_;
};

TEST_F(GrpcGlyphs, ResultsAreThoseOfHttp) {
  ModelInferRequest raw = request(), typed = request();
  raw.add_raw_input_contents(raw_image());
  typed.mutable_inputs(0)->mutable_contents()->mutable_fp32_contents()->Add(image_.begin(),
                                                                            image_.end());
  const std::string scores = scores_over_http();
  EXPECT_EQ(ask(raw).raw_output_contents(0), scores);
  const ModelInferResponse answer = ask(typed);
  const auto& elements = answer.outputs(0).contents().fp32_contents();
  ASSERT_EQ(static_cast<size_t>(elements.size()) * sizeof(float), scores.size());
  EXPECT_EQ(std::memcmp(elements.data(), scores.data(), scores.size()), 0);
}

TEST_F(GrpcGlyphs, ClassesAreTextsInBothForms) {
  ModelInferRequest ask_classes = request();
  ask_classes.add_raw_input_contents(raw_image());
  auto& output = *ask_classes.add_outputs();
  output.set_name("scores");
  (*output.mutable_parameters())["classification"].set_int64_param(1);
  const ModelInferResponse raw = ask(ask_classes);
  EXPECT_EQ(raw.outputs(0).datatype(), "BYTES");
  EXPECT_THAT(raw.outputs(0).shape(), ElementsAre(1, 1));
  ask_classes.clear_raw_input_contents();
  ask_classes.mutable_inputs(0)->mutable_contents()->mutable_fp32_contents()->Add(image_.begin(),
                                                                                  image_.end());
  const ModelInferResponse typed = ask(ask_classes);
  ASSERT_EQ(typed.outputs(0).contents().bytes_contents_size(), 1);
  const std::string text = typed.outputs(0).contents().bytes_contents(0);
  EXPECT_THAT(text, HasSubstr(":"));
  // Raw, the text follows its length in four bytes.
  EXPECT_EQ(raw.raw_output_contents(0).substr(4), text);
  EXPECT_EQ(raw.raw_output_contents(0)[0], static_cast<char>(text.size()));
}

TEST_F(GrpcGlyphs, AnElementOfBytesIsAPicture) {
  ModelInferRequest picture;
  picture.set_model_name("glyphs");
  picture.set_id("letter");
  auto& input = *picture.add_inputs();
  input.set_name("image");
  input.set_datatype("BYTES");
  input.add_shape(1);
  input.mutable_contents()->add_bytes_contents("P5 32 32 255\n" + pixels_);
  const ModelInferResponse answer = ask(picture);
  EXPECT_EQ(answer.id(), "letter");
  EXPECT_THAT(answer.outputs(0).shape(), ElementsAre(1, 5));
  EXPECT_EQ(answer.outputs(0).contents().bytes_contents_size(), 5);
  input.mutable_contents()->set_bytes_contents(0, "no picture");
  grpc::ClientContext context;
  ModelInferResponse none;
  EXPECT_EQ(grpc_->ModelInfer(&context, picture, &none).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(GrpcStatus, WithoutMemoryTheServerIsUnavailable) {
  EXPECT_EQ(serve::grpc_status(std::bad_alloc()).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(serve::grpc_status(std::runtime_error("")).error_code(), grpc::StatusCode::INTERNAL);
}

TEST(TypedContents, EveryTypeButThoseOf16BitsOfFloatingPointGoesThereAndBack) {
  const std::vector<std::byte> bytes(16, std::byte{1});
  for (const DataType type :
       {DataType::kBoolean, DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64,
        DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64,
        DataType::kFloat32, DataType::kFloat64}) {
    inference::InferTensorContents contents;
    serve::add_elements(bytes, type, contents);
    const Result<size_t> elements = serve::count_elements(contents, type);
    ASSERT_TRUE(elements.ok()) << elements.status().message();
    EXPECT_EQ(*elements * size_of(type), bytes.size());
    std::vector<std::byte> back(bytes.size());
    EXPECT_TRUE(serve::write_elements(contents, type, back.data()).ok());
    EXPECT_EQ(back, bytes);
  }
  for (const DataType type : {DataType::kFp16, DataType::kBf16})
    EXPECT_THAT(serve::count_elements({}, type).status().message(), HasSubstr("raw bytes only"));
}

TEST(TypedContents, AnElementThatTheTypeDoesNotHaveIsNamed) {
  inference::InferTensorContents contents;
  contents.add_int_contents(127);
  contents.add_int_contents(128);
  std::byte to[2];
  EXPECT_THAT(serve::write_elements(contents, DataType::kInt8, to).message(),
              HasSubstr("element 1 that is no INT8"));
  EXPECT_TRUE(
      serve::write_elements(contents, DataType::kInt16, std::vector<std::byte>(4).data()).ok());
}

}  // namespace
}  // namespace millrace::test
