// The extensions of the protocol over gRPC, and what is refused before it is read.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "serve/grpc/wire_form.h"
#include "tests/serve/access_log_lines.h"
#include "tests/serve/grpc_fixture.h"
#include "tests/serve/shared_object.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

using GrpcExtensions = GrpcServe;

grpc::ByteBuffer bytes_of(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}

// Calls what the generated client does not know.
grpc::Status call_by_name(uint16_t port, const std::string& name, const std::string& message) {
  grpc::GenericStub stub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const grpc::ByteBuffer request = bytes_of(message);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> end;
  stub.UnaryCall(&context, name, {}, &request, &response,
                 [&end](grpc::Status status) { end.set_value(std::move(status)); });
  return end.get_future().get();
}

TEST_F(GrpcExtensions, StatisticsCountWhatWasAnswered) {
  start();
  EXPECT_TRUE(infer(tiny_request()).ok());
  for (const char* name : {"tiny", ""}) {
    inference::ModelStatisticsRequest which;
    which.set_name(name);
    grpc::ClientContext context;
    inference::ModelStatisticsResponse response;
    const grpc::Status status = grpc_->ModelStatistics(&context, which, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.model_stats_size(), 1);
    const auto& model = response.model_stats(0);
    EXPECT_EQ(model.name(), "tiny");
    EXPECT_EQ(model.version(), "1");
    EXPECT_EQ(model.inference_count(), 1U);
    EXPECT_EQ(model.execution_count(), 1U);
    EXPECT_EQ(model.inference_stats().success().count(), 1U);
    EXPECT_GT(model.inference_stats().success().ns(), 0U);
  }
}

TEST_F(GrpcExtensions, ModelsAreUnloadedAndLoaded) {
  options_.model_control = true;
  start();
  const auto models = [&](bool ready) {
    inference::RepositoryIndexRequest which;
    which.set_ready(ready);
    grpc::ClientContext context;
    inference::RepositoryIndexResponse response;
    EXPECT_TRUE(grpc_->RepositoryIndex(&context, which, &response).ok());
    return response;
  };
  EXPECT_EQ(models(true).models(0).state(), "READY");
  inference::RepositoryModelUnloadRequest unload;
  inference::RepositoryModelUnloadResponse unloaded;
  unload.set_model_name("tiny");
  grpc::ClientContext first, second, third;
  EXPECT_TRUE(grpc_->RepositoryModelUnload(&first, unload, &unloaded).ok());
  EXPECT_EQ(models(true).models_size(), 0);
  EXPECT_THAT(models(false).models(0).reason(), HasSubstr("unloaded"));
  inference::RepositoryModelLoadRequest load;
  inference::RepositoryModelLoadResponse loaded;
  load.set_model_name("tiny");
  (*load.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_EQ(grpc_->RepositoryModelLoad(&second, load, &loaded).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  load.clear_parameters();
  EXPECT_TRUE(grpc_->RepositoryModelLoad(&third, load, &loaded).ok());
  EXPECT_TRUE(infer(tiny_request()).ok());
}

TEST_F(GrpcExtensions, ModelsAreTheOperatorsUnlessTheServerSaysOtherwise) {
  start();
  inference::RepositoryModelUnloadRequest unload;
  inference::RepositoryModelUnloadResponse unloaded;
  grpc::ClientContext first, second;
  EXPECT_EQ(grpc_->RepositoryModelUnload(&first, unload, &unloaded).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  unload.set_model_name("tiny");
  EXPECT_EQ(grpc_->RepositoryModelUnload(&second, unload, &unloaded).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(GrpcExtensions, CallsThatAreNotOfferedAreNamed) {
  serve::Server& server = start();
  const grpc::Status status =
      call_by_name(server.grpc_port(), "/inference.GRPCInferenceService/TraceSetting", "");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("TraceSetting is not offered"));
}

// They are 140 kilobytes, and would be 13 megabytes when they are parsed.
TEST_F(GrpcExtensions, AMessageOfManyPartsIsRefusedBeforeItIsParsed) {
  serve::Server& server = start();
  ModelInferRequest request = tiny_request();
  for (int i = 0; i < 70'000; ++i) request.add_inputs();
  const grpc::Status status = infer(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("more than 65536 fields"));
  const char* const method = "/inference.GRPCInferenceService/ModelInfer";
  for (const char* message : {"\x0b\x0c", "\x0a\x7f", "\xff\xff\xff\xff\xff\xff"})
    EXPECT_THAT(call_by_name(server.grpc_port(), method, message).error_message(),
                HasSubstr("is no request"));
}

// Fields that nobody knows would take 32 times their bytes.
TEST_F(GrpcExtensions, OnlyInferenceTakesLongMessages) {
  serve::Server& server = start();
  std::string fields;
  while (fields.size() < size_t{1} << 20) fields.append("\x7a\x00", 2);
  const auto ask = [&](const std::string& call, const std::string& message) {
    const grpc::Status status =
        call_by_name(server.grpc_port(), "/inference.GRPCInferenceService/" + call, message);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  for (const char* call : {"ServerLive", "ModelReady", "RepositoryIndex", "RepositoryModelLoad",
                           "SystemSharedMemoryRegister"}) {
    EXPECT_THAT(ask(call, fields), HasSubstr("at most 65536 are taken"));
    EXPECT_THAT(ask(call, "\x0a\x7f"), HasSubstr("none of this call"));
  }
}

TEST_F(GrpcExtensions, ElementsTakeMemoryBeforeTheyAreParsed) {
  const auto left = std::make_shared<std::atomic<uint64_t>>(8000);
  const auto parse = [&](int elements) {
    ModelInferRequest request = tiny_request(), parsed;
    for (int i = 0; i < elements; ++i)
      request.mutable_inputs(0)->mutable_contents()->add_int64_contents(1);
    serve::MemoryCharge charge(left);
    const Status status =
        serve::parse_request(bytes_of(request.SerializeAsString()), charge, parsed);
    EXPECT_EQ(*left, status.ok() ? 8000U - 8U * static_cast<unsigned>(elements) : 8000U);
    return status.code();
  };
  EXPECT_EQ(parse(1000), StatusCode::kOk);
  EXPECT_EQ(parse(1001), StatusCode::kOutOfMemory);
  EXPECT_EQ(*left, 8000U);
}

// Bytes that are no request are not looked at before the token.
TEST_F(GrpcExtensions, StrangersAreRefusedBeforeTheirMessage) {
  const TemporaryDirectory directory;
  options_.token_file = directory.file("token");
  std::ofstream(options_.token_file) << "a secret\n";
  serve::Server& server = start();
  EXPECT_EQ(call_by_name(server.grpc_port(), "/inference.GRPCInferenceService/ModelInfer", "\x0b")
                .error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  grpc::ClientContext context, known;
  inference::ModelStreamInferResponse answer;
  const auto stream = grpc_->ModelStreamInfer(&context);
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  known.AddMetadata("authorization", "Bearer a secret");
  const auto own = grpc_->ModelStreamInfer(&known);
  EXPECT_TRUE(own->Write(tiny_request()));
  EXPECT_TRUE(own->Read(&answer));
  EXPECT_EQ(answer.error_message(), "");
}

TEST_F(GrpcExtensions, FieldsAreCountedAtEveryDepthAndElementsAreNot) {
  const auto left = std::make_shared<std::atomic<uint64_t>>(uint64_t{1} << 30);
  const auto parse = [&left](const ModelInferRequest& request) {
    ModelInferRequest parsed;
    serve::MemoryCharge charge(left);
    return serve::parse_request(bytes_of(request.SerializeAsString()), charge, parsed);
  };
  ModelInferRequest elements = tiny_request();
  for (uint32_t i = 0; i < 2 * serve::kMostFields; ++i)
    elements.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_TRUE(parse(elements).ok());
  ModelInferRequest texts = tiny_request();
  for (uint32_t i = 0; i < serve::kMostFields; ++i)
    texts.mutable_inputs(0)->mutable_contents()->add_bytes_contents("");
  EXPECT_THAT(parse(texts).message(), HasSubstr("more than 65536 fields"));
}

TEST_F(GrpcExtensions, AStreamGoesOnAfterBytesThatAreNoRequest) {
  start();
  grpc::ClientContext context;
  const auto stream = grpc_->ModelStreamInfer(&context);
  ModelInferRequest request = tiny_request("many");
  for (int i = 0; i < 70'000; ++i) request.add_inputs();
  EXPECT_TRUE(stream->Write(request));
  inference::ModelStreamInferResponse answer;
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_THAT(answer.error_message(), HasSubstr("fields"));
  EXPECT_TRUE(stream->Write(tiny_request("next")));
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.infer_response().id(), "next");
  EXPECT_EQ(answer.error_message(), "");
}

TEST_F(GrpcExtensions, TensorsMayBeInSharedMemory) {
  options_.shared_memory = true;
  start();
  const SharedObject object(4096);
  object.put(0, std::vector<float>(48, 1));
  inference::SystemSharedMemoryRegisterRequest region;
  inference::SystemSharedMemoryRegisterResponse added;
  region.set_name("of a test");
  region.set_key(object.key());
  region.set_byte_size(4096);
  grpc::ClientContext first, again, second, third, fourth;
  const grpc::Status status = grpc_->SystemSharedMemoryRegister(&first, region, &added);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(grpc_->SystemSharedMemoryRegister(&again, region, &added).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  inference::SystemSharedMemoryStatusResponse known;
  EXPECT_TRUE(grpc_->SystemSharedMemoryStatus(&second, {}, &known).ok());
  EXPECT_EQ(known.regions().at("of a test").byte_size(), 4096U);
  ModelInferRequest request = tiny_request();
  request.clear_raw_input_contents();
  const auto put_into = [](auto& parameters, int64_t offset, int64_t bytes) {
    parameters["shared_memory_region"].set_string_param("of a test");
    parameters["shared_memory_offset"].set_int64_param(offset);
    parameters["shared_memory_byte_size"].set_int64_param(bytes);
  };
  put_into(*request.mutable_inputs(0)->mutable_parameters(), 0, 48 * 4);
  auto& output = *request.add_outputs();
  output.set_name(kTinyOutput);
  put_into(*output.mutable_parameters(), 1024, 160 * 4);
  object.put(1024, std::vector<float>(160, -1));
  ModelInferResponse response;
  const grpc::Status inferred = grpc_->ModelInfer(&third, request, &response);
  ASSERT_TRUE(inferred.ok()) << inferred.error_message();
  EXPECT_EQ(response.outputs(0).parameters().at("shared_memory_byte_size").int64_param(), 640);
  EXPECT_FALSE(response.outputs(0).has_contents());
  EXPECT_NE(object.get(1024, 160), std::vector<float>(160, -1));
  inference::SystemSharedMemoryUnregisterResponse removed;
  EXPECT_TRUE(grpc_->SystemSharedMemoryUnregister(&fourth, {}, &removed).ok());
  EXPECT_EQ(infer(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GrpcExtensions, ConnectionsHaveALimit) {
  options_.http.grpc_connections = 1;
  serve::Server& server = start();
  EXPECT_TRUE(infer(tiny_request()).ok());
  const auto second = grpc_client(server.grpc_port());
  const auto asks = [&second] {
    grpc::ClientContext context;
    inference::ServerLiveResponse live;
    return second->ServerLive(&context, {}, &live).error_code();
  };
  EXPECT_EQ(asks(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(counts(R"(millrace_requests_total{code="503",model="",version=""})"));
  grpc_.reset();
  EXPECT_TRUE(eventually([&] {
    grpc::ClientContext context;
    inference::ServerLiveResponse live;
    return grpc_client(server.grpc_port())->ServerLive(&context, {}, &live).ok();
  }));
}

TEST_F(GrpcExtensions, AnAnswerWithoutRoomIsLoggedAsWhatWasSent) {
  const TemporaryDirectory directory;
  options_.access_log = directory.file("access.log");
  options_.http.all_answers_bytes = 100;
  start();
  EXPECT_EQ(infer(tiny_request()).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(counts(R"(millrace_requests_total{code="503",model="tiny",version="1"} 1)"));
  stop();
  EXPECT_EQ(access_lines(options_.access_log).at(0)["status"], 503);
}

}  // namespace
}  // namespace millrace::test
