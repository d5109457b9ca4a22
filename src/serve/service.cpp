#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>

#include "serve/inference.h"
#include "serve/protocol/picture_request.h"
#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

// Requests with more JSON than this are handled by the workers.
constexpr size_t kMostJsonOnThread = 128 << 10;

std::optional<unsigned> hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return std::nullopt;
}

// Decodes %41 to A. What is no such code stays as it is.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    decoded += low ? static_cast<char>(*high * 16 + *low) : text[i];
    if (low) i += 2;
  }
  return decoded;
}

// Returns the parts of the path between slashes, decoded, without the query.
std::vector<std::string> parts_of(std::string_view target) {
  target = target.substr(0, target.find('?'));
  std::vector<std::string> parts;
  while (!target.empty()) {
    target.remove_prefix(target.front() == '/' ? 1 : 0);
    const size_t end = std::min(target.find('/'), target.size());
    if (end > 0) parts.push_back(percent_decoded(target.substr(0, end)));
    target.remove_prefix(end);
  }
  return parts;
}

HttpResponse json_response(const json& body, unsigned status = 200) {
  return {.status = status, .text = body.dump(-1, ' ', false, json::error_handler_t::replace)};
}

json server_metadata() {
  return {{"name", "millrace"},
          {"version", MILLRACE_VERSION},
          {"extensions", {"binary_tensor_data", "classification"}}};
}

json tensor_metadata(const Model& model, std::span<const TensorInfo> infos) {
  json tensors = json::array();
  for (const TensorInfo& info : infos)
    tensors.push_back({{"name", info.name},
                       {"datatype", protocol_name(info.cpu.type)},
                       {"shape", metadata_shape(model, info)}});
  return tensors;
}

json model_metadata(const ServedModel& served, const std::vector<std::string>& versions) {
  const Model& model = served.model();
  return {{"name", served.name()},
          {"versions", versions},
          {"platform", "millrace"},
          {"inputs", tensor_metadata(model, model.inputs())},
          {"outputs", tensor_metadata(model, model.outputs())}};
}

HttpResponse unavailable(std::string_view message) {
  HttpResponse response = error_response(503, message);
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

}  // namespace

// The call that a target stands for.
struct Service::Route {
  enum class What : uint8_t {
    kNothing,
    kServer,
    kLive,
    kReady,
    kModel,
    kModelReady,
    kInfer,
    kIndex,
    kMetrics
  };
  What what = What::kNothing;
  std::shared_ptr<ServedModel> model = {};  // not null for the three of a model
  std::vector<std::string> versions = {};   // of that model
  std::string missing = {};                 // with kNothing: what there is not
};

Service::Service(ModelRepository& models, Metrics& metrics, Workers& workers,
                 const Options& options, const std::atomic<uint32_t>& connections)
    : models_(models),
      metrics_(metrics),
      workers_(workers),
      default_seconds_(options.request_seconds),
      picture_(options.takes_pictures ? &options.picture : nullptr),
      connections_(connections) {}

bool Service::ready() const {
  return !draining_ && models_.ready();
}

Service::Route Service::route_of(std::string_view target) const {
  const std::vector<std::string> parts = parts_of(target);
  Route route;
  route.missing = fmt::format("there is no \"{}\" here", target);
  const auto is = [&](std::initializer_list<std::string_view> path) {
    return std::ranges::equal(parts, path);
  };
  if (is({"metrics"})) route.what = Route::What::kMetrics;
  if (is({"v2"})) route.what = Route::What::kServer;
  if (is({"v2", "repository", "index"})) route.what = Route::What::kIndex;
  if (is({"v2", "health", "live"})) route.what = Route::What::kLive;
  if (is({"v2", "health", "ready"})) route.what = Route::What::kReady;
  if (parts.size() > 2 && parts[0] == "v2" && parts[1] == "models") route_model(parts, route);
  return route;
}

// v2/models/NAME[/versions/VERSION][/ready|/infer]
void Service::route_model(const std::vector<std::string>& parts, Route& route) const {
  ModelRepository::Models versions = models_.versions_of(parts[2]);
  if (versions.empty()) {
    route.missing = fmt::format("there is no model \"{}\"", parts[2]);
    return;
  }
  for (const auto& version : versions) route.versions.push_back(version->version());
  size_t next = 3;
  if (parts.size() > 4 && parts[3] == "versions") {
    std::erase_if(versions, [&](const auto& own) { return own->version() != parts[4]; });
    if (versions.empty()) {
      route.missing = fmt::format("the model \"{}\" has no version \"{}\"", parts[2], parts[4]);
      return;
    }
    next = 5;
  }
  const std::string_view call = parts.size() > next ? parts[next] : std::string_view();
  if (parts.size() > next + 1) return;
  if (call.empty()) route.what = Route::What::kModel;
  if (call == "ready") route.what = Route::What::kModelReady;
  if (call == "infer") route.what = Route::What::kInfer;
  if (route.what != Route::What::kNothing) route.model = versions.back();
}

std::optional<HttpResponse> Service::refuse(const HttpRequest& head) {
  const Route route = route_of(head.target);
  auto refusal = refuse(route, head);
  if (!refusal) return refusal;
  count(route, head, refusal->status);
  return refusal;
}

void Service::count(const Route& route, const HttpRequest& head, unsigned status) {
  if (route.model != nullptr)
    route.model->metrics().answered(status, seconds_since(head.arrival));
  else
    metrics_.answered(status);
}

void Service::refused(const HttpRequest& head, unsigned status) noexcept {
  try {
    count(route_of(head.target), head, status);
  } catch (const std::bad_alloc&) {
    // Without memory for the path, the request belongs to no model.
    metrics_.answered(status);
  }
}

std::optional<HttpResponse> Service::refuse(const Route& route, const HttpRequest& head) const {
  if (route.what == Route::What::kNothing) return error_response(404, route.missing);
  const bool infers = route.what == Route::What::kInfer;
  const std::string_view allowed = infers || route.what == Route::What::kIndex ? "POST" : "GET";
  if (head.method != allowed) {
    HttpResponse response =
        error_response(405, fmt::format("{} takes {} only", head.target, allowed));
    response.fields.emplace_back("Allow", allowed);
    return response;
  }
  if (!infers) return std::nullopt;
  if (!head.field("Content-Length") && !head.field("Transfer-Encoding"))
    return error_response(411, "the request states no length, by Content-Length or in chunks");
  if (draining_) return unavailable("the server is shutting down");
  if (const auto coding = head.field("Content-Encoding"); coding && *coding != "identity")
    return error_response(
        415, fmt::format("the body has the coding \"{}\", which is not read here", *coding));
  return std::nullopt;
}

bool Service::takes_long(const HttpRequest& request, size_t json_bytes) const {
  return json_bytes > kMostJsonOnThread || is_picture(request);
}

std::shared_ptr<Work> Service::handle(HttpRequest request, Respond respond) {
  try {
    return answer(std::move(request), respond);
  } catch (const std::exception& error) {
    respond(response_of(error));
    return nullptr;
  }
}

// Throws only before it has answered.
std::shared_ptr<Work> Service::answer(HttpRequest request, const Respond& respond) {
  const Route route = route_of(request.target);
  if (route.what == Route::What::kInfer) return infer(*route.model, std::move(request), respond);
  HttpResponse response = look_up(route);
  metrics_.answered(response.status);
  respond(std::move(response));
  return nullptr;
}

// Lists the models, with the reason for those that are not served.
json Service::index() const {
  json models = json::array();
  for (const auto& model : models_.all())
    models.push_back({{"name", model->name()},
                      {"version", model->version()},
                      {"state", model->ready() ? "READY" : "UNAVAILABLE"},
                      {"reason", ""}});
  for (const FailedModel& model : models_.failed())
    models.push_back({{"name", model.file.name},
                      {"version", model.file.version},
                      {"state", "UNAVAILABLE"},
                      {"reason", model.reason.message()}});
  return models;
}

HttpResponse Service::look_up(const Route& route) const {
  switch (route.what) {
    case Route::What::kServer:
      return json_response(server_metadata());
    case Route::What::kIndex:
      return json_response(index());
    case Route::What::kLive:
      return json_response({{"live", true}});
    case Route::What::kReady:
      return json_response({{"ready", ready()}}, ready() ? 200 : 503);
    case Route::What::kModel:
      return json_response(model_metadata(*route.model, route.versions));
    case Route::What::kModelReady: {
      const bool is_ready = !draining_ && route.model->ready();
      return json_response({{"name", route.model->name()}, {"ready", is_ready}},
                           is_ready ? 200 : 503);
    }
    case Route::What::kMetrics:
      return {.content_type = Metrics::kContentType, .text = metrics_.text(connections_)};
    default:
      return error_response(404, route.missing);
  }
}

std::shared_ptr<Work> Service::infer(ServedModel& model, HttpRequest request,
                                     const Respond& respond) {
  Respond counted = [kept = model.shared_from_this(), arrival = request.arrival,
                     respond](HttpResponse response) {
    kept->metrics().answered(response.status, seconds_since(arrival));
    respond(std::move(response));
  };
  const auto arrival = request.arrival;
  Result<InferRequest> read =
      is_picture(request) ? read_picture_request(std::move(request), model.model(), picture_)
                          : read_infer_request(std::move(request), model.model());
  if (!read.ok()) {
    counted(response_of(read.status(), model.retry_after_seconds()));
    return nullptr;
  }
  model.metrics().copied(read->copied_bytes);
  if (read->deadline == kNoDeadline && default_seconds_ > 0)
    read->deadline = arrival + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::duration<double>(default_seconds_));
  return Inference::start(model, *std::move(read), std::move(counted), workers_);
}

}  // namespace millrace::serve
