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

namespace millrace::serve {
namespace {

using nlohmann::json;
using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;
using Protocol = inference::GRPCInferenceService;

// The calls of inference get the bytes of their messages, and the others the messages.
template <class Base>
using WithServerCalls = Protocol::WithCallbackMethod_ServerLive<
    Protocol::WithCallbackMethod_ServerReady<Protocol::WithCallbackMethod_ServerMetadata<Base>>>;
template <class Base>
using WithModelCalls = Protocol::WithCallbackMethod_ModelReady<
    Protocol::WithCallbackMethod_ModelMetadata<Protocol::WithCallbackMethod_ModelStatistics<Base>>>;
template <class Base>
using WithRepositoryCalls =
    Protocol::WithCallbackMethod_RepositoryIndex<Protocol::WithCallbackMethod_RepositoryModelLoad<
        Protocol::WithCallbackMethod_RepositoryModelUnload<Base>>>;
template <class Base>
using WithSharedMemoryCalls = Protocol::WithCallbackMethod_SystemSharedMemoryStatus<
    Protocol::WithCallbackMethod_SystemSharedMemoryRegister<
        Protocol::WithCallbackMethod_SystemSharedMemoryUnregister<Base>>>;
template <class Base>
using WithInference = Protocol::WithRawCallbackMethod_ModelInfer<
    Protocol::WithRawCallbackMethod_ModelStreamInfer<Base>>;
using OfferedCalls = WithServerCalls<
    WithModelCalls<WithRepositoryCalls<WithSharedMemoryCalls<WithInference<Protocol::Service>>>>>;

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

// Answers the calls.
class Front final : public OfferedCalls {
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

  Unary* ModelInfer(Context* context, const grpc::ByteBuffer* request,
                    grpc::ByteBuffer* response) override {
    return infer_once(backend_, *context, *request, *response);
  }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ModelStreamInfer(
      Context* context) override {
    return infer_stream(backend_, *context);
  }

  Unary* ModelStatistics(Context* context, const inference::ModelStatisticsRequest* request,
                         inference::ModelStatisticsResponse* response) override {
    const auto fill = [response](const json& body) { convert(body.dump(), *response); };
    if (!request->name().empty())
      return look_up_model(*context, "ModelStatistics", *request, "/stats", fill);
    return look_up(*context, "ModelStatistics", "/v2/models/stats", fill);
  }

  Unary* RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                         inference::RepositoryIndexResponse* response) override {
    const json body = {{"ready", request->ready()}};
    return post(*context, "RepositoryIndex", "/v2/repository/index", body,
                [response](const json& models) {
                  convert(json{{"models", models}}.dump(), *response);
                });
  }

  Unary* RepositoryModelLoad(Context* context, const inference::RepositoryModelLoadRequest* request,
                             inference::RepositoryModelLoadResponse*) override {
    json parameters = json::object();
    for (const auto& [name, value] : request->parameters()) parameters[name] = nullptr;
    return change(*context, "RepositoryModelLoad", request->model_name(), "/load",
                  {{"parameters", std::move(parameters)}});
  }

  Unary* RepositoryModelUnload(Context* context,
                               const inference::RepositoryModelUnloadRequest* request,
                               inference::RepositoryModelUnloadResponse*) override {
    return change(*context, "RepositoryModelUnload", request->model_name(), "/unload",
                  json::object());
  }

  Unary* SystemSharedMemoryStatus(Context* context,
                                  const inference::SystemSharedMemoryStatusRequest* request,
                                  inference::SystemSharedMemoryStatusResponse* response) override {
    return on_region(
        *context, "SystemSharedMemoryStatus", request->name(), [&](const std::string& path) {
          return look_up(*context, "SystemSharedMemoryStatus", path + "/status",
                         [response](const json& regions) { add_regions(regions, *response); });
        });
  }

  Unary* SystemSharedMemoryRegister(Context* context,
                                    const inference::SystemSharedMemoryRegisterRequest* request,
                                    inference::SystemSharedMemoryRegisterResponse*) override {
    const json body = {{"key", request->key()},
                       {"offset", request->offset()},
                       {"byte_size", request->byte_size()}};
    return on_region(*context, "SystemSharedMemoryRegister", request->name(),
                     [&](const std::string& path) {
                       return post(*context, "SystemSharedMemoryRegister", path + "/register", body,
                                   [](const json&) {});
                     });
  }

  Unary* SystemSharedMemoryUnregister(Context* context,
                                      const inference::SystemSharedMemoryUnregisterRequest* request,
                                      inference::SystemSharedMemoryUnregisterResponse*) override {
    return on_region(*context, "SystemSharedMemoryUnregister", request->name(),
                     [&](const std::string& path) {
                       return post(*context, "SystemSharedMemoryUnregister", path + "/unregister",
                                   json::object(), [](const json&) {});
                     });
  }

  template <class Request, class Fill>
  Unary* look_up_model(Context& context, std::string_view name, const Request& request,
                       std::string_view call, Fill fill) {
    if (request.name().empty()) return refuse(context, name, "the request names no model");
    if (const Status status = check_names(request.name(), request.version()); !status.ok())
      return refuse(context, name, status.message());
    return look_up(context, name, model_path(request.name(), request.version()).append(call),
                   std::move(fill));
  }

  Unary* change(Context& context, std::string_view name, const std::string& model,
                std::string_view call, const json& body) {
    if (model.empty()) return refuse(context, name, "the request names no model");
    if (const Status status = check_names(model, ""); !status.ok())
      return refuse(context, name, status.message());
    return post(context, name, repository_path(model).append(call), body, [](const json&) {});
  }

  template <class Ask>
  Unary* on_region(Context& context, std::string_view name, const std::string& region, Ask ask) {
    if (const Status status = check_names(region, ""); !status.ok())
      return refuse(context, name, status.message());
    return ask(region_path(region));
  }

  Unary* refuse(Context& context, std::string_view name, const std::string& message) {
    backend_.refusal(head_of(context, name), invalid_argument(message));
    Unary* const reactor = context.DefaultReactor();
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, message});
    return reactor;
  }

  template <class Fill>
  Unary* look_up(Context& context, std::string_view name, std::string path, Fill fill) {
    return ask(context, rest_head(std::move(path), head_of(context, name)), std::move(fill));
  }

  template <class Fill>
  Unary* post(Context& context, std::string_view name, std::string path, const json& body,
              Fill fill) {
    const std::string text = body.dump(-1, ' ', false, json::error_handler_t::replace);
    return ask(context, rest_post(std::move(path), text, head_of(context, name)), std::move(fill));
  }

  // `fill` takes the JSON of an answer without error. What is not ready has the status 503 there.
  template <class Fill>
  Unary* ask(Context& context, HttpRequest request, Fill fill) {
    Unary* const reactor = context.DefaultReactor();
    backend_.ask(std::move(request), [reactor, fill](const HttpResponse& answer) {
      grpc::Status status;
      try {
        const json body = json::parse(answer.text);
        if (body.is_object() && body.contains("error"))
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
