#include "serve/service.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/descriptions.h"
#include "serve/inference.h"
#include "serve/protocol/picture_request.h"

namespace millrace::serve {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;
using What = Route::What;

// Requests with more JSON than this are handled by the workers.
constexpr size_t kMostJsonOnThread = 128 << 10;
// Answers of fewer bytes are not packed, and those of more are packed by the workers.
constexpr size_t kFewestPacked = 512, kMostPackedInCallback = 64 << 10;
// Models that wait to be loaded or unloaded, and the size of the request for it and the like.
constexpr size_t kMostChanges = 16, kMostChangeBytes = 64 << 10;

HttpResponse unavailable(std::string_view message) {
  HttpResponse response = error_response(503, message);
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse no_room_for_answer() noexcept {
  try {
    return unavailable("other clients do not take their answers");
  } catch (const std::exception& error) {
    return response_of(error);
  }
}

std::chrono::nanoseconds time_since(SteadyClock::time_point start) {
  return SteadyClock::now() - start;
}

// The coding that a field states; nothing if it is no coding, or one that is unknown here.
std::optional<std::string_view> content_coding(const HttpRequest& request) {
  const auto coding = request.field("Content-Encoding");
  return coding == "identity" ? std::nullopt : coding;
}

// A comparison whose time does not tell how much of a guess is right.
bool is_same_secret(std::string_view guess, std::string_view secret) {
  unsigned difference = guess.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < guess.size(); ++i)
    difference |= static_cast<unsigned char>(guess[i]) ^
                  static_cast<unsigned char>(secret[i % secret.size()]);
  return difference == 0;
}

bool is_about_regions(const Route& route) {
  return route.what == What::kRegions || route.what == What::kRegister ||
         route.what == What::kUnregister;
}

// The number of bytes of JSON that a field states; 0 if none does.
size_t stated_json_bytes(const HttpRequest& request) {
  size_t bytes = 0;
  if (const auto text = request.field(kJsonLengthField))
    std::from_chars(text->data(), text->data() + text->size(), bytes);
  return bytes;
}

// Why a call that is not for inference is not read: its body is short, and states how long it is.
std::optional<HttpResponse> refuse_length(const HttpRequest& head) {
  if (head.field("Transfer-Encoding"))
    return error_response(411, "the request states no length by Content-Length");
  const auto text = head.field("Content-Length");
  if (!text) return std::nullopt;
  size_t bytes = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), bytes);
  if (bad == std::errc() && bytes <= kMostChangeBytes) return std::nullopt;
  return error_response(413, fmt::format("the body is longer than {} bytes", kMostChangeBytes));
}

// Reads the body of a short call; an empty one is an empty object. Returns why it is none.
std::optional<HttpResponse> read_object(const HttpRequest& request, json& body) {
  body = json::object();
  if (request.body.size() == 0) return std::nullopt;
  if (request.body.size() > kMostChangeBytes)
    return error_response(413, fmt::format("the body is longer than {} bytes", kMostChangeBytes));
  body = json::parse(request.text(), nullptr, false);
  if (body.is_object()) return std::nullopt;
  return error_response(400, "the body is no JSON object");
}

// A model is loaded as it lies in the repository, and nothing that a request brings is loaded.
std::optional<HttpResponse> refuse_change(const Route& route, const HttpRequest& request) {
  json body;
  if (auto refusal = read_object(request, body)) return refusal;
  const auto parameters = body.find("parameters");
  if (route.what == What::kLoad && parameters != body.end() && !parameters->empty())
    return error_response(400,
                          "a model is loaded as it lies in the repository: parameters to load "
                          "it are not offered");
  return std::nullopt;
}

HttpResponse index_of(const ModelRepository& models, const HttpRequest& request) {
  json body;
  if (auto refusal = read_object(request, body)) return *std::move(refusal);
  const json ready = body.value("ready", json(false));
  if (!ready.is_boolean()) return error_response(400, "\"ready\" is not true or false");
  return {.text = describe_repository(models, ready.get<bool>())};
}

}  // namespace

Service::Service(ModelRepository& models, Metrics& metrics, Workers& workers,
                 const Options& options, const std::atomic<uint32_t>& connections)
    : models_(models),
      metrics_(metrics),
      workers_(workers),
      picture_(options.takes_pictures ? &options.picture : nullptr),
      shared_memory_(options.shared_memory),
      model_control_(options.model_control),
      most_body_bytes_(options.http.body_bytes),
      held_body_bytes_(std::make_shared<std::atomic<uint64_t>>(options.http.all_bodies_bytes)),
      connections_(connections),
      loader_(1, kMostChanges) {}

bool Service::ready() const {
  return !draining_ && models_.ready();
}

std::optional<HttpResponse> Service::refuse(const HttpRequest& head) {
  const Route route = route_of(models_, head.target);
  auto refusal = refuse(route, head);
  if (refusal) count(route, head, refusal->status);
  return refusal;
}

void Service::count(const Route& route, const HttpRequest& head, unsigned status) {
  if (route.what == What::kInfer)
    route.model->answered(status, time_since(head.arrival));
  else
    metrics_.answered(status);
}

void Service::refused(const HttpRequest& head, unsigned status) noexcept {
  try {
    count(route_of(models_, head.target), head, status);
  } catch (const std::bad_alloc&) {
    // Without memory for the path, the request belongs to no model.
    metrics_.answered(status);
  }
}

void Service::require_token(std::string token) {
  auto shared = std::make_shared<const std::string>(std::move(token));
  const std::lock_guard lock(token_mutex_);
  token_.swap(shared);
}

// Whether the request states the token, if there is one.
bool Service::may_ask(const HttpRequest& head) const {
  static constexpr std::string_view kScheme = "Bearer ";
  std::shared_ptr<const std::string> token;
  {
    const std::lock_guard lock(token_mutex_);
    token = token_;
  }
  if (!token) return true;
  const auto field = head.field("Authorization");
  return field && field->starts_with(kScheme) &&
         is_same_secret(field->substr(kScheme.size()), *token);
}

std::optional<HttpResponse> Service::refuse(const Route& route, const HttpRequest& head) const {
  const bool is_health = route.what == What::kLive || route.what == What::kReady;
  if (!is_health && !may_ask(head)) {
    HttpResponse response = error_response(401, "the request states no token that is valid here");
    response.fields.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  if (route.what == What::kNothing) return error_response(404, route.missing);
  if (route.what == What::kNotOffered) return error_response(501, route.missing);
  if (head.method != route.method()) {
    HttpResponse response =
        error_response(405, fmt::format("{} takes {} only", head.target, route.method()));
    response.fields.emplace_back("Allow", route.method());
    return response;
  }
  const bool changes = route.what == What::kLoad || route.what == What::kUnload;
  if (changes && !model_control_)
    return error_response(403, "the server was started without --model-control");
  if (changes && draining_) return unavailable("the server is shutting down");
  if (!shared_memory_ && is_about_regions(route))
    return error_response(
        501,
        "the extension \"system_shared_memory\" is not offered: start the server with "
        "--shared-memory");
  if (route.what != What::kInfer) return refuse_length(head);
  if (!head.field("Content-Length") && !head.field("Transfer-Encoding"))
    return error_response(411, "the request states no length, by Content-Length or in chunks");
  if (draining_) return unavailable("the server is shutting down");
  if (const auto coding = content_coding(head); coding && !coding_of(*coding))
    return error_response(
        415, fmt::format("the body has the coding \"{}\", which is not read here", *coding));
  return std::nullopt;
}

bool Service::takes_long(const HttpRequest& request, size_t json_bytes) const {
  return json_bytes > kMostJsonOnThread || is_picture(request) || content_coding(request) ||
         refers_to_regions(request, json_bytes);
}

// Inputs in shared memory are copied, which may take long. A letter of the name may be an escape
// sequence.
bool Service::refers_to_regions(const HttpRequest& request, size_t json_bytes) const {
  if (!shared_memory_) return false;
  const std::string_view text = request.text().substr(0, json_bytes);
  return text.find("shared_memory_region") != std::string_view::npos ||
         text.find('\\') != std::string_view::npos;
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
  const Route route = route_of(models_, request.target);
  if (route.what == What::kInfer) return infer(*route.model, std::move(request), respond);
  if (route.what == What::kLoad || route.what == What::kUnload) {
    change(route, request, respond);
    return nullptr;
  }
  const bool changes = route.what == What::kRegister || route.what == What::kUnregister;
  HttpResponse response = changes ? change_regions(route, request) : look_up(route, request);
  metrics_.answered(response.status);
  respond(std::move(response));
  return nullptr;
}

HttpResponse Service::look_up(const Route& route, const HttpRequest& request) const {
  switch (route.what) {
    case What::kServer:
      return {.text = describe_server(shared_memory_)};
    case What::kIndex:
      return index_of(models_, request);
    case What::kLive:
      return {.text = R"({"live":true})"};
    case What::kReady:
      return ready() ? HttpResponse{.text = R"({"ready":true})"}
                     : HttpResponse{.status = 503, .text = R"({"ready":false})"};
    case What::kModel:
      return {.text = describe_model(*route.model, route.versions)};
    case What::kModelReady: {
      const bool is_ready = !draining_ && route.model->ready();
      const json body = {{"name", route.model->name()}, {"ready", is_ready}};
      return {.status = is_ready ? 200U : 503U,
              .text = body.dump(-1, ' ', false, json::error_handler_t::replace)};
    }
    case What::kStatistics:
      return {.text = describe_statistics(route.model ? ModelRepository::Models{route.model}
                                                      : models_.all())};
    case What::kRegions:
      return describe_regions_of(route);
    case What::kMetrics:
      return {.content_type = Metrics::kContentType, .text = metrics_.text(connections_)};
    default:
      return error_response(404, route.missing);
  }
}

HttpResponse Service::describe_regions_of(const Route& route) const {
  if (route.name.empty()) return {.text = describe_regions(regions_.all())};
  const auto region = regions_.find(route.name);
  if (!region)
    return error_response(404, fmt::format("there is no shared memory region \"{}\"", route.name));
  return {.text = describe_regions({region})};
}

HttpResponse Service::change_regions(const Route& route, const HttpRequest& request) {
  json body;
  if (auto refusal = read_object(request, body)) return *std::move(refusal);
  if (route.what == What::kUnregister) {
    regions_.remove(route.name);
    return {.text = "{}"};
  }
  const json key = body.value("key", json()), bytes = body.value("byte_size", json());
  const json offset = body.value("offset", json(0U));
  if (!key.is_string() || !bytes.is_number_unsigned() || !offset.is_number_unsigned())
    return error_response(400,
                          "a region has a \"key\", which is a text, and a \"byte_size\" and an "
                          "\"offset\", which are numbers of bytes");
  const Status status = regions_.add(route.name, key.get<std::string>(), offset.get<uint64_t>(),
                                     bytes.get<uint64_t>());
  return status.ok() ? HttpResponse{.text = "{}"} : response_of(status, 1);
}

// Loads or unloads a model, on the thread for that.
void Service::change(const Route& route, const HttpRequest& request, const Respond& respond) {
  auto refusal = refuse_change(route, request);
  if (!refusal) {
    auto task = [this, name = route.name, loads = route.what == What::kLoad, respond] {
      HttpResponse response = changed(name, loads);
      metrics_.answered(response.status);
      respond(std::move(response));
    };
    if (loader_.post(std::move(task)) != Workers::kNoTask) return;
    refusal = unavailable("too many models wait to be loaded or unloaded");
  }
  metrics_.answered(refusal->status);
  respond(*std::move(refusal));
}

HttpResponse Service::changed(const std::string& name, bool loads) {
  try {
    const Status status = loads ? models_.load(name) : models_.unload(name);
    return status.ok() ? HttpResponse{.text = "{}"} : response_of(status, 1);
  } catch (const std::exception& error) {
    return response_of(error);
  }
}

Respond Service::counted(ServedModel& model, const HttpRequest& request, Respond respond) const {
  return [kept = model.shared_from_this(), arrival = request.arrival, take = request.take_answer,
          respond = std::move(respond)](HttpResponse response) {
    if (take && response.status == 200 && !take(body_size(response)))
      response = no_room_for_answer();
    kept->answered(response.status, time_since(arrival));
    respond(std::move(response));
  };
}

// Packs answers for clients that take that. One that cannot be packed is sent as it is.
Respond Service::packed(const HttpRequest& request, Respond respond) const {
  const auto field = request.field("Accept-Encoding");
  const auto coding = field ? accepted_coding(*field) : std::nullopt;
  if (!coding) return respond;
  return [this, coding = *coding, respond = std::move(respond)](HttpResponse response) {
    if (body_size(response) >= kFewestPacked) return pack_and_send(response, coding, respond);
    respond(std::move(response));
  };
}

// The workers pack what takes long. If they have too much to do, it is sent as it is, since jobs
// wait behind this thread.
void Service::pack_and_send(HttpResponse& response, Coding coding, const Respond& respond) const {
  if (body_size(response) <= kMostPackedInCallback) {
    pack(response, coding);
    return respond(std::move(response));
  }
  std::shared_ptr<HttpResponse> shared;
  try {
    shared = std::make_shared<HttpResponse>(std::move(response));
    auto task = [shared, coding, respond] {
      pack(*shared, coding);
      respond(std::move(*shared));
    };
    if (workers_.post(std::move(task)) != Workers::kNoTask) return;
  } catch (const std::bad_alloc&) {
    // There is no memory for a task.
  }
  respond(std::move(shared ? *shared : response));
}

// Unpacks the body, which must fit into the limits as one that came unpacked. Returns why it does
// not.
std::optional<HttpResponse> Service::unpack_body(HttpRequest& request,
                                                 std::shared_ptr<MemoryCharge>& charge) const {
  const auto name = content_coding(request);
  const auto coding = name ? coding_of(*name) : std::nullopt;
  if (!coding) return std::nullopt;
  charge = std::make_shared<MemoryCharge>(held_body_bytes_);
  MemoryBlock body;
  const size_t aligned_at = stated_json_bytes(request);
  const auto take = [&](size_t bytes) { return charge->take(bytes); };
  switch (unpack(request.body.bytes(), *coding, aligned_at, most_body_bytes_, take, body)) {
    case UnpackOutcome::kDone:
      request.body = std::move(body);
      return std::nullopt;
    case UnpackOutcome::kCorrupt:
      return error_response(400, fmt::format("the body is not of the coding \"{}\"", *name));
    case UnpackOutcome::kTooLarge:
      return error_response(413, fmt::format("the body is longer than {} bytes when it is unpacked",
                                             most_body_bytes_));
    case UnpackOutcome::kNoMemory:
      break;
  }
  return unavailable("there is not enough memory to unpack the body");
}

// `charge` is made if the request needs memory beyond its body.
Result<InferRequest> Service::read(HttpRequest request, const ServedModel& served,
                                   std::shared_ptr<MemoryCharge>& charge) const {
  const Model& model = served.model();
  const auto arrival = request.arrival;
  const RegionMemory shared = {.regions = shared_memory_ ? &regions_ : nullptr,
                               .take_memory =
                                   [&](uint64_t bytes) {
                                     if (!charge)
                                       charge = std::make_shared<MemoryCharge>(held_body_bytes_);
                                     return charge->take(bytes);
                                   },
                               .most_bytes = most_body_bytes_};
  MILLRACE_ASSIGN_OR_RETURN(InferRequest read,
                            is_picture(request)
                                ? read_picture_request(std::move(request), model, picture_)
                                : read_infer_request(std::move(request), model, shared));
  if (read.deadline == kNoDeadline && served.request_seconds() > 0)
    read.deadline = arrival + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::duration<double>(served.request_seconds()));
  return read;
}

std::shared_ptr<Work> Service::infer(ServedModel& model, HttpRequest request, Respond respond) {
  Respond answer = counted(model, request, packed(request, std::move(respond)));
  const auto begin = SteadyClock::now();
  std::shared_ptr<MemoryCharge> charge;
  if (auto refusal = unpack_body(request, charge)) {
    answer(*std::move(refusal));
    return nullptr;
  }
  if (model.batcher() != nullptr && charge == nullptr) {
    charge = std::make_shared<MemoryCharge>(held_body_bytes_);
    if (!charge->take(request.body.bytes().size())) {
      answer(unavailable("jobs that several requests share hold the memory for all bodies"));
      return nullptr;
    }
  }
  Result<InferRequest> read = this->read(std::move(request), model, charge);
  if (!read.ok()) {
    answer(response_of(read.status(), model.retry_after_seconds()));
    return nullptr;
  }
  read->charge = std::move(charge);
  read->reading = time_since(begin);
  model.metrics().copied(read->copied_bytes);
  return Inference::start(model, *std::move(read), std::move(answer), workers_);
}

}  // namespace millrace::serve
