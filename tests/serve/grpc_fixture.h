// A server with gRPC, and a client of it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "open_inference.grpc.pb.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

inline std::unique_ptr<inference::GRPCInferenceService::Stub> grpc_client(uint16_t port) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return inference::GRPCInferenceService::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), own));
}

// A request for the tiny model, with its input as raw bytes.
inline ModelInferRequest tiny_request(const std::string& id = "") {
  ModelInferRequest request;
  request.set_model_name("tiny");
  request.set_id(id);
  auto& input = *request.add_inputs();
  input.set_name(kTinyInput);
  input.set_datatype("FP32");
  for (const int64_t size : {1, 3, 4, 4}) input.add_shape(size);
  request.add_raw_input_contents(std::string(48 * sizeof(float), '\0'));
  return request;
}

class GrpcServe : public Serve {
 protected:
  GrpcServe() { options_.grpc_port = 0; }

  serve::Server& start() {
    serve::Server& server = Serve::start();
    grpc_ = grpc_client(server.grpc_port());
    return server;
  }

  // A call that goes on while the test does other things.
  struct Pending {
    grpc::ClientContext context;
    ModelInferRequest request;
    ModelInferResponse response;
    std::promise<grpc::Status> end;
    grpc::Status wait() { return end.get_future().get(); }
  };
  std::unique_ptr<Pending> begin(const ModelInferRequest& request) {
    auto pending = std::make_unique<Pending>();
    pending->request = request;
    grpc_->async()->ModelInfer(
        &pending->context, &pending->request, &pending->response,
        [own = pending.get()](grpc::Status status) { own->end.set_value(std::move(status)); });
    return pending;
  }
  grpc::Status infer(const ModelInferRequest& request) {
    grpc::ClientContext context;
    ModelInferResponse response;
    return grpc_->ModelInfer(&context, request, &response);
  }
  bool counts(const std::string& line) {
    return eventually(
        [&] { return client().get("/metrics").body.find(line) != std::string::npos; });
  }

  std::unique_ptr<inference::GRPCInferenceService::Stub> grpc_;
};

}  // namespace millrace::test
