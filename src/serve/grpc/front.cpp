#include "serve/grpc/front.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "open_inference.grpc.pb.h"
#include "serve/grpc/grpc_status.h"
#include "serve/grpc/infer_calls.h"
#include "serve/grpc/rest_form.h"
#include "serve/grpc/wire_form.h"

namespace millrace::serve {
namespace {

using nlohmann::json;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;
using Bytes = grpc::ByteBuffer;
using Protocol = inference::GRPCInferenceService;

// All calls get the bytes of their messages. gRPC would parse one of any size that --max-body
// allows before the call is known here.
template <class Base>
using WithServerCalls =
    Protocol::WithRawCallbackMethod_ServerLive<Protocol::WithRawCallbackMethod_ServerReady<
        Protocol::WithRawCallbackMethod_ServerMetadata<Base>>>;
template <class Base>
using WithModelCalls =
    Protocol::WithRawCallbackMethod_ModelReady<Protocol::WithRawCallbackMethod_ModelMetadata<
        Protocol::WithRawCallbackMethod_ModelStatistics<Base>>>;
template <class Base>
using WithRepositoryCalls = Protocol::WithRawCallbackMethod_RepositoryIndex<
    Protocol::WithRawCallbackMethod_RepositoryModelLoad<
        Protocol::WithRawCallbackMethod_RepositoryModelUnload<Base>>>;
template <class Base>
using WithSharedMemoryCalls = Protocol::WithRawCallbackMethod_SystemSharedMemoryStatus<
    Protocol::WithRawCallbackMethod_SystemSharedMemoryRegister<
        Protocol::WithRawCallbackMethod_SystemSharedMemoryUnregister<Base>>>;
template <class Base>
using WithInference = Protocol::WithRawCallbackMethod_ModelInfer<
    Protocol::WithRawCallbackMethod_ModelStreamInfer<Base>>;
using OfferedCalls = WithServerCalls<
    WithModelCalls<WithRepositoryCalls<WithSharedMemoryCalls<WithInference<Protocol::Service>>>>>;

// A call of one message and one answer that is not for inference. gRPC keeps what it refers to
// until the call is finished.
struct Asked {
  Context& context;
  std::string_view name;
  const Bytes& request;
  Bytes& response;
};

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

void add_regions(const json& regions, inference::SystemSharedMemoryStatusResponse& response) {
  for (const json& region : regions) {
    auto& message = (*response.mutable_regions())[region.value("name", "")];
    message.set_name(region.value("name", ""));
    message.set_key(region.value("key", ""));
    message.set_offset(region.value("offset", uint64_t{0}));
    message.set_byte_size(region.value("byte_size", uint64_t{0}));
  }
}

// The names in the messages are those of the JSON. Throws std::runtime_error.
void convert(const std::string& text, google::protobuf::Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &message, options);
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// Writes the message that an answer becomes, which `fill` makes of the JSON of one without error.
// A server or model that is not ready has the status 503 there.
template <class Response, class Fill>
grpc::Status write_answer(const HttpResponse& answer, const Fill& fill, Bytes& bytes) {
  try {
    const json body = json::parse(answer.text);
    if (body.is_object() && body.contains("error"))
      return grpc_status(failure_of(answer).value_or(RestFailure{.status = 500}));
    Response response;
    fill(body, response);
    const Status written = write_message(response, bytes);
    if (written.ok()) return grpc::Status::OK;
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, written.message()};
  } catch (const std::exception& error) {
    return grpc_status(error);
  }
}

// Answers the calls.
class Front final : public OfferedCalls {
 public:
  explicit Front(Backend& backend) : backend_(backend) {}

 private:
  Unary* ServerLive(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::ServerLiveRequest>(
        {*context, "ServerLive", *request, *response}, [this](const Asked& call, const auto&) {
          return look_up<inference::ServerLiveResponse>(
              call, "/v2/health/live",
              [](const json& body, auto& answer) { answer.set_live(body.value("live", false)); });
        });
  }

  Unary* ServerReady(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::ServerReadyRequest>(
        {*context, "ServerReady", *request, *response}, [this](const Asked& call, const auto&) {
          return look_up<inference::ServerReadyResponse>(
              call, "/v2/health/ready",
              [](const json& body, auto& answer) { answer.set_ready(body.value("ready", false)); });
        });
  }

  Unary* ModelReady(Context* context, const Bytes* request, Bytes* response) override {
    return on_model<inference::ModelReadyRequest, inference::ModelReadyResponse>(
        {*context, "ModelReady", *request, *response}, "/ready",
        [](const json& body, auto& answer) { answer.set_ready(body.value("ready", false)); });
  }

  Unary* ServerMetadata(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::ServerMetadataRequest>(
        {*context, "ServerMetadata", *request, *response}, [this](const Asked& call, const auto&) {
          return look_up<inference::ServerMetadataResponse>(
              call, "/v2", [](const json& body, auto& answer) {
                answer.set_name(body.value("name", ""));
                answer.set_version(body.value("version", ""));
                for (const json& extension : body.at("extensions"))
                  answer.add_extensions(extension.get<std::string>());
              });
        });
  }

  Unary* ModelMetadata(Context* context, const Bytes* request, Bytes* response) override {
    return on_model<inference::ModelMetadataRequest, inference::ModelMetadataResponse>(
        {*context, "ModelMetadata", *request, *response}, "", [](const json& body, auto& answer) {
          answer.set_name(body.value("name", ""));
          answer.set_platform(body.value("platform", ""));
          for (const json& version : body.at("versions"))
            answer.add_versions(version.get<std::string>());
          add_tensors(body.at("inputs"), *answer.mutable_inputs());
          add_tensors(body.at("outputs"), *answer.mutable_outputs());
        });
  }

  Unary* ModelInfer(Context* context, const Bytes* request, Bytes* response) override {
    return infer_once(backend_, *context, *request, *response);
  }

  grpc::ServerBidiReactor<Bytes, Bytes>* ModelStreamInfer(Context* context) override {
    return infer_stream(backend_, *context);
  }

  Unary* ModelStatistics(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::ModelStatisticsRequest>(
        {*context, "ModelStatistics", *request, *response},
        [this](const Asked& call, const auto& message) {
          using Response = inference::ModelStatisticsResponse;
          const auto fill = [](const json& body, auto& answer) { convert(body.dump(), answer); };
          if (!message.name().empty())
            return look_up_model<Response>(call, message, "/stats", fill);
          return look_up<Response>(call, "/v2/models/stats", fill);
        });
  }

  Unary* RepositoryIndex(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::RepositoryIndexRequest>(
        {*context, "RepositoryIndex", *request, *response},
        [this](const Asked& call, const auto& message) {
          return post<inference::RepositoryIndexResponse>(
              call, "/v2/repository/index", {{"ready", message.ready()}},
              [](const json& models, auto& answer) {
                convert(json{{"models", models}}.dump(), answer);
              });
        });
  }

  // Parameters are refused, whatever they are.
  Unary* RepositoryModelLoad(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::RepositoryModelLoadRequest>(
        {*context, "RepositoryModelLoad", *request, *response},
        [this](const Asked& call, const auto& message) {
          json parameters = json::object();
          if (!message.parameters().empty()) parameters["any"] = nullptr;
          return change<inference::RepositoryModelLoadResponse>(
              call, message.model_name(), "/load", {{"parameters", std::move(parameters)}});
        });
  }

  Unary* RepositoryModelUnload(Context* context, const Bytes* request, Bytes* response) override {
    return on<inference::RepositoryModelUnloadRequest>(
        {*context, "RepositoryModelUnload", *request, *response},
        [this](const Asked& call, const auto& message) {
          return change<inference::RepositoryModelUnloadResponse>(call, message.model_name(),
                                                                  "/unload", json::object());
        });
  }

  Unary* SystemSharedMemoryStatus(Context* context, const Bytes* request,
                                  Bytes* response) override {
    return on_region<inference::SystemSharedMemoryStatusRequest>(
        {*context, "SystemSharedMemoryStatus", *request, *response},
        [this](const Asked& call, const auto&, const std::string& path) {
          return look_up<inference::SystemSharedMemoryStatusResponse>(
              call, path + "/status",
              [](const json& regions, auto& answer) { add_regions(regions, answer); });
        });
  }

  Unary* SystemSharedMemoryRegister(Context* context, const Bytes* request,
                                    Bytes* response) override {
    return on_region<inference::SystemSharedMemoryRegisterRequest>(
        {*context, "SystemSharedMemoryRegister", *request, *response},
        [this](const Asked& call, const auto& message, const std::string& path) {
          return post<inference::SystemSharedMemoryRegisterResponse>(
              call, path + "/register",
              {{"key", message.key()},
               {"offset", message.offset()},
               {"byte_size", message.byte_size()}},
              kNoFill);
        });
  }

  Unary* SystemSharedMemoryUnregister(Context* context, const Bytes* request,
                                      Bytes* response) override {
    return on_region<inference::SystemSharedMemoryUnregisterRequest>(
        {*context, "SystemSharedMemoryUnregister", *request, *response},
        [this](const Asked& call, const auto&, const std::string& path) {
          return post<inference::SystemSharedMemoryUnregisterResponse>(call, path + "/unregister",
                                                                       json::object(), kNoFill);
        });
  }

  static constexpr auto kNoFill = [](const json&, auto&) {};

  // Reads the message of a call, and answers by it.
  template <class Request, class Answer>
  Unary* on(const Asked& call, const Answer& answer) {
    Request message;
    if (const Status status = read_short_message(call.request, message); !status.ok())
      return refuse(call, status.message());
    return answer(call, message);
  }

  template <class Request, class Response, class Fill>
  Unary* on_model(const Asked& asked, std::string_view path, Fill fill) {
    return on<Request>(asked, [&](const Asked& call, const Request& message) {
      return look_up_model<Response>(call, message, path, fill);
    });
  }

  template <class Request, class Answer>
  Unary* on_region(const Asked& asked, const Answer& answer) {
    return on<Request>(asked, [&](const Asked& call, const Request& message) {
      if (const Status status = check_names(message.name(), ""); !status.ok())
        return refuse(call, status.message());
      return answer(call, message, region_path(message.name()));
    });
  }

  template <class Response, class Request, class Fill>
  Unary* look_up_model(const Asked& call, const Request& request, std::string_view path,
                       Fill fill) {
    if (request.name().empty()) return refuse(call, "the request names no model");
    if (const Status status = check_names(request.name(), request.version()); !status.ok())
      return refuse(call, status.message());
    return look_up<Response>(call, model_path(request.name(), request.version()).append(path),
                             std::move(fill));
  }

  template <class Response>
  Unary* change(const Asked& call, const std::string& model, std::string_view path,
                const json& body) {
    if (model.empty()) return refuse(call, "the request names no model");
    if (const Status status = check_names(model, ""); !status.ok())
      return refuse(call, status.message());
    return post<Response>(call, repository_path(model).append(path), body, kNoFill);
  }

  Unary* refuse(const Asked& call, const std::string& message) {
    backend_.refusal(head_of(call.context, call.name), invalid_argument(message));
    Unary* const reactor = call.context.DefaultReactor();
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, message});
    return reactor;
  }

  template <class Response, class Fill>
  Unary* look_up(const Asked& call, std::string path, Fill fill) {
    return ask<Response>(call, rest_head(std::move(path), head_of(call.context, call.name)),
                         std::move(fill));
  }

  template <class Response, class Fill>
  Unary* post(const Asked& call, std::string path, const json& body, Fill fill) {
    const std::string text = body.dump(-1, ' ', false, json::error_handler_t::replace);
    return ask<Response>(call, rest_post(std::move(path), text, head_of(call.context, call.name)),
                         std::move(fill));
  }

  template <class Response, class Fill>
  Unary* ask(const Asked& call, HttpRequest request, Fill fill) {
    Unary* const reactor = call.context.DefaultReactor();
    backend_.ask(std::move(request),
                 [reactor, fill, &response = call.response](const HttpResponse& answer) {
                   reactor->Finish(write_answer<Response>(answer, fill, response));
                 });
    return reactor;
  }

  Backend& backend_;
};

// Refuses calls by name.
class Refuser final : public grpc::CallbackGenericService {
 public:
  explicit Refuser(Backend& backend) : backend_(backend) {}

 private:
  struct Refusal final : grpc::ServerGenericBidiReactor {
    void OnDone() override { delete this; }
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto refusal = std::make_unique<Refusal>();
    const std::string message =
        fmt::format("the call {} is not offered here", context->method().substr(0, kLongestName));
    backend_.refusal(head_of(*context, "unknown"), unsupported(message));
    refusal->Finish({grpc::StatusCode::UNIMPLEMENTED, message});
    return refusal.release();
  }

  Backend& backend_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_front(Backend& backend) {
  return std::make_unique<Front>(backend);
}

std::unique_ptr<grpc::CallbackGenericService> make_refuser(Backend& backend) {
  return std::make_unique<Refuser>(backend);
}

}  // namespace millrace::serve
