#include "cli/load/grpc_protocol.h"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "io/file.h"
#include "open_inference.pb.h"

namespace millrace::cli {
namespace {

constexpr const char* kInfer = "/inference.GRPCInferenceService/ModelInfer";
constexpr const char* kMetadata = "/inference.GRPCInferenceService/ModelMetadata";
constexpr unsigned kOk = 200, kNotFound = 404;

// The status of HTTP that says the same.
unsigned http_status(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return kOk;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::FAILED_PRECONDITION:
      return 400;
    case grpc::StatusCode::UNAUTHENTICATED:
      return 401;
    case grpc::StatusCode::PERMISSION_DENIED:
      return 403;
    case grpc::StatusCode::NOT_FOUND:
      return kNotFound;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return 429;
    case grpc::StatusCode::UNIMPLEMENTED:
      return 501;
    case grpc::StatusCode::UNAVAILABLE:
      return 503;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

// A connection of its own for each, as over HTTP.
class GrpcConnection : public RemoteConnection {
 public:
  GrpcConnection(const RemoteServer& server,
                 const std::shared_ptr<grpc::ChannelCredentials>& credentials)
      : server_(server) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    // A server that comes back is found soon, and no proxy of the environment is measured.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = grpc::CreateCustomChannel(server.host, credentials, arguments);
    stub_ = std::make_unique<grpc::GenericStub>(channel_);
  }
  ~GrpcConnection() override {
    done_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (done_.Next(&tag, &ok)) {
    }
  }

  Status connect() override {
    const auto limit = std::chrono::system_clock::now() + kRemoteLimit;
    auto state = channel_->GetState(true);
    while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE &&
           channel_->WaitForStateChange(state, limit))
      state = channel_->GetState(true);
    if (state == GRPC_CHANNEL_READY) return {};
    return {StatusCode::kIoError,
            fmt::format("cannot connect to {}, or agree with it on encryption", server_.host)};
  }

  Result<RemoteAnswer> ask(const std::string& request, uint64_t most_body_bytes) override {
    return call(kInfer, request, most_body_bytes);
  }

  Result<RemoteAnswer> call(const char* method, const std::string& request, uint64_t most_bytes) {
    const grpc::Slice slice(request.data(), request.size(), grpc::Slice::STATIC_SLICE);
    grpc::ClientContext context;
    const auto limit = std::chrono::system_clock::now() + kRemoteLimit;
    context.set_deadline(limit);
    grpc::ByteBuffer answer;
    grpc::Status status;
    const auto call =
        stub_->PrepareUnaryCall(&context, method, grpc::ByteBuffer(&slice, 1), &done_);
    call->StartCall();
    call->Finish(&answer, &status, this);
    void* tag = nullptr;
    bool ok = false;
    done_.Next(&tag, &ok);
    const bool is_late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
                         std::chrono::system_clock::now() >= limit;
    if (is_late)
      return Status(StatusCode::kDeadlineExceeded,
                    fmt::format("no answer of {} within {} s", server_.host, kRemoteLimit.count()));
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE && !is_connected())
      return Status(StatusCode::kIoError, fmt::format("the connection to {} ended: {}",
                                                      server_.host, status.error_message()));
    if (!status.ok())
      return RemoteAnswer{.status = http_status(status), .body = status.error_message()};
    if (answer.Length() > most_bytes)
      return corrupt_data(fmt::format("the answer has {} bytes", answer.Length()));
    return RemoteAnswer{.status = kOk, .body = method == kInfer ? "" : bytes_of(answer)};
  }

 private:
  // gRPC says UNAVAILABLE of a lost connection, too, as servers do that refuse a request.
  bool is_connected() const { return channel_->GetState(false) == GRPC_CHANNEL_READY; }

  const RemoteServer& server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::CompletionQueue done_;
};

// The description in the form that it has over HTTP.
std::string in_json(const inference::ModelMetadataResponse& metadata) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const auto& input : metadata.inputs())
    inputs.push_back({{"name", input.name()},
                      {"datatype", input.datatype()},
                      {"shape", std::vector<int64_t>(input.shape().begin(), input.shape().end())}});
  return nlohmann::json{{"inputs", inputs}}.dump(-1, ' ', false,
                                                 nlohmann::json::error_handler_t::replace);
}

class GrpcProtocol : public RemoteProtocol {
 public:
  explicit GrpcProtocol(std::shared_ptr<grpc::ChannelCredentials> credentials)
      : credentials_(std::move(credentials)) {}

  std::unique_ptr<RemoteConnection> connection_to(const RemoteServer& server) const override {
    return std::make_unique<GrpcConnection>(server, credentials_);
  }

  Result<RemoteModel> describe(const RemoteServer& server,
                               const std::string& model) const override {
    GrpcConnection connection(server, credentials_);
    MILLRACE_RETURN_IF_ERROR(connection.connect());
    inference::ModelMetadataRequest request;
    request.set_name(model);
    MILLRACE_ASSIGN_OR_RETURN(
        RemoteAnswer answer,
        connection.call(kMetadata, request.SerializeAsString(), kMostDescription));
    inference::ModelMetadataResponse metadata;
    if (answer.status == kOk && !metadata.ParseFromString(answer.body))
      return corrupt_data("the server describes the model in a form that is not the protocol's");
    if (answer.status == kOk) answer.body = in_json(metadata);
    return model_of_description(answer, model);
  }

  std::string request(const RemoteServer&, const RemoteModel& model,
                      std::span<const graph::Boundary> inputs,
                      std::span<const std::span<const std::byte>> bytes) const override {
    inference::ModelInferRequest request;
    request.set_model_name(model.described.name);
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto& input = *request.add_inputs();
      input.set_name(inputs[i].cpu.name);
      input.set_datatype(std::string(protocol_type(inputs[i].cpu.type)));
      for (const uint32_t size : inputs[i].cpu.shape) input.add_shape(size);
      request.add_raw_input_contents(bytes[i].data(), bytes[i].size());
    }
    return request.SerializeAsString();
  }

 private:
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

}  // namespace

Result<std::shared_ptr<const RemoteProtocol>> grpc_protocol(bool with_tls,
                                                            const std::string& ca_file) {
  if (!with_tls)
    return std::shared_ptr<const RemoteProtocol>(
        std::make_shared<GrpcProtocol>(grpc::InsecureChannelCredentials()));
  grpc::SslCredentialsOptions options;
  if (!ca_file.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> file, io::read_file(ca_file));
    options.pem_root_certs.assign(reinterpret_cast<const char*>(file.data()), file.size());
  }
  return std::shared_ptr<const RemoteProtocol>(
      std::make_shared<GrpcProtocol>(grpc::SslCredentials(options)));
}

}  // namespace millrace::cli
