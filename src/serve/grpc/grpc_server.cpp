#include "serve/grpc/grpc_server.h"

#include <fmt/format.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "open_inference.grpc.pb.h"
#include "serve/grpc/backend.h"
#include "serve/grpc/grpc_status.h"
#include "serve/grpc/infer_calls.h"
#include "serve/grpc/rest_form.h"

namespace millrace::serve {
namespace {

using nlohmann::json;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

// For answers to requests that are cancelled when the server stops.
constexpr std::chrono::seconds kLastAnswers{1};
constexpr int kMostCallsOfConnection = 1000;
// A connection whose client does not answer a ping has gone.
constexpr int kPingMilliseconds = 30'000;
constexpr int kPingAnswerMilliseconds = 10'000;
constexpr int kLeastClientPingMilliseconds = 10'000;
// Between two looks for calls whose clients do not take their answers.
constexpr std::chrono::seconds kLongestPause{1};
// For what gRPC needs besides the messages.
constexpr size_t kBytesOfGrpc = size_t{64} << 20;

// gRPC would write to standard error itself.
void log_of_grpc(gpr_log_func_args* line) {
  const LogLevel level = line->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kError
                         : line->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  log_format(level, "grpc", "{}", line->message);
}

int milliseconds(double seconds) {
  return static_cast<int>(std::clamp(seconds * 1000, 1.0, double{std::numeric_limits<int>::max()}));
}

void add_tensors(
    const json& tensors,
    google::protobuf::RepeatedPtrField<inference::ModelMetadataResponse::TensorMetadata>&
        messages) {
  for (const json& tensor : tensors) {
    auto& message = *messages.Add();
    message.set_name(tensor.value("name", ""));
    message.set_datatype(tensor.value("datatype", ""));
    for (const json& size : tensor.at("shape")) message.add_shape(size.get<int64_t>());
  }
}

// Answers the calls.
class Front final : public inference::GRPCInferenceService::CallbackService {
 public:
  explicit Front(Backend& backend) : backend_(backend) {}

 private:
  Unary* ServerLive(Context* context, const inference::ServerLiveRequest*,
                    inference::ServerLiveResponse* response) override {
    return look_up(*context, "ServerLive", "/v2/health/live",
                   [response](const json& body) { response->set_live(body.value("live", false)); });
  }

  Unary* ServerReady(Context* context, const inference::ServerReadyRequest*,
                     inference::ServerReadyResponse* response) override {
    return look_up(*context, "ServerReady", "/v2/health/ready", [response](const json& body) {
      response->set_ready(body.value("ready", false));
    });
  }

  Unary* ModelReady(Context* context, const inference::ModelReadyRequest* request,
                    inference::ModelReadyResponse* response) override {
    return look_up_model(*context, "ModelReady", *request, "/ready", [response](const json& body) {
      response->set_ready(body.value("ready", false));
    });
  }

  Unary* ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                        inference::ServerMetadataResponse* response) override {
    return look_up(*context, "ServerMetadata", "/v2", [response](const json& body) {
      response->set_name(body.value("name", ""));
      response->set_version(body.value("version", ""));
      for (const json& extension : body.at("extensions"))
        response->add_extensions(extension.get<std::string>());
    });
  }

  Unary* ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                       inference::ModelMetadataResponse* response) override {
    return look_up_model(*context, "ModelMetadata", *request, "", [response](const json& body) {
      response->set_name(body.value("name", ""));
      response->set_platform(body.value("platform", ""));
      for (const json& version : body.at("versions"))
        response->add_versions(version.get<std::string>());
      add_tensors(body.at("inputs"), *response->mutable_inputs());
      add_tensors(body.at("outputs"), *response->mutable_outputs());
    });
  }

  Unary* ModelInfer(Context* context, const inference::ModelInferRequest* request,
                    inference::ModelInferResponse* response) override {
    return infer_once(backend_, *context, *request, *response);
  }

  grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>*
  ModelStreamInfer(Context* context) override {
    return infer_stream(backend_, *context);
  }

  template <class Request, class Fill>
  Unary* look_up_model(Context& context, std::string_view name, const Request& request,
                       std::string_view call, Fill fill) {
    const Status status = request.name().empty() ? invalid_argument("the request names no model")
                                                 : check_names(request.name(), request.version());
    if (!status.ok()) {
      Unary* const reactor = context.DefaultReactor();
      reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, status.message()});
      return reactor;
    }
    return look_up(context, name, model_path(request.name(), request.version()).append(call),
                   std::move(fill));
  }

  // `fill` takes the JSON of an answer without error. What is not ready has the status 503 there.
  template <class Fill>
  Unary* look_up(Context& context, std::string_view name, std::string path, Fill fill) {
    Unary* const reactor = context.DefaultReactor();
    backend_.look_up(
        std::move(path), head_of(context, name), [reactor, fill](const HttpResponse& answer) {
          grpc::Status status;
          try {
            const json body = json::parse(answer.text);
            if (body.contains("error"))
              status = grpc_status(failure_of(answer).value_or(RestFailure{.status = 500}));
            else
              fill(body);
          } catch (const std::exception& error) {
            status = grpc_status(error);
          }
          reactor->Finish(status);
        });
    return reactor;
  }

  Backend& backend_;
};

void limit(grpc::ServerBuilder& builder, const HttpLimits& limits) {
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<uint64_t>(limits.body_bytes, std::numeric_limits<int>::max())));
  builder.SetMaxSendMessageSize(-1);
  // gRPC compares the size before it unpacks a message, which may become a thousand times larger.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  grpc::ResourceQuota quota("millrace");
  quota.Resize(limits.all_bodies_bytes + kBytesOfGrpc);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(limits.header_bytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCallsOfConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, milliseconds(limits.idle_seconds));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             milliseconds(limits.header_seconds));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingAnswerMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastClientPingMilliseconds);
  // A second server on the port is an error, not a share of its clients.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

std::string endpoint(const std::string& address, uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const HttpLimits& limits, Handler& handler, Workers& workers)
      : limits_(limits), backend_(handler, workers, limits) {}
  ~Impl() { stop(); }

  Status listen(const std::string& address, uint16_t port) {
    gpr_set_log_function(log_of_grpc);
    grpc::ServerBuilder builder;
    limit(builder, limits_);
    builder.AddListeningPort(endpoint(address, port), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&front_);
    server_ = builder.BuildAndStart();
    if (server_ && port_ != 0) return watch();
    return {StatusCode::kIoError,
            fmt::format("cannot listen on {} port {} for gRPC; MILLRACE_LOG=error says why",
                        address, port)};
  }

  void stop() {
    if (!server_) return;
    calls().take_no_more();
    calls().cancel_all();
    server_->Shutdown(std::chrono::system_clock::now() + kLastAnswers);
    server_.reset();
    watch_ = {};
  }

  Calls& calls() { return backend_.calls(); }
  int port() const { return port_; }

 private:
  // Begins to abort calls whose clients do not take their answers in time.
  Status watch() {
    try {
      watch_ = std::jthread([this](const std::stop_token& end) { abort_slow_calls(end); });
      return {};
    } catch (const std::system_error& error) {
      return {StatusCode::kResourceExhausted,
              fmt::format("cannot start a thread for gRPC: {}", error.what())};
    }
  }

  void abort_slow_calls(const std::stop_token& end) {
    const auto limit = std::chrono::milliseconds(milliseconds(limits_.body_seconds));
    const auto pause = std::min<std::chrono::milliseconds>(limit, kLongestPause);
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      never.wait_for(lock, end, pause, [] { return false; });
      calls().abort_slow(Call::Clock::now() - limit);
    }
  }

  const HttpLimits limits_;
  Backend backend_;
  Front front_{backend_};
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::jthread watch_;
};

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const std::string& address, uint16_t port,
                                                      const HttpLimits& limits, Handler& handler,
                                                      Workers& workers) {
  auto impl = std::make_unique<Impl>(limits, handler, workers);
  MILLRACE_RETURN_IF_ERROR(impl->listen(address, port));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const {
  return static_cast<uint16_t>(impl_->port());
}

void GrpcServer::end_streams() {
  impl_->calls().take_no_more();
}

bool GrpcServer::wait_answered(std::chrono::steady_clock::time_point limit) {
  return impl_->calls().wait_for_none(limit);
}

void GrpcServer::cancel_work() {
  impl_->calls().cancel_all();
}

void GrpcServer::stop() {
  impl_->stop();
}

}  // namespace millrace::serve
