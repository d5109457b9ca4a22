#include "serve/grpc/backend.h"

#include <exception>
#include <string>
#include <utility>

namespace millrace::serve {
namespace {

constexpr unsigned kUnavailable = 503;

unsigned http_status_of(const Status& status) {
  if (status.code() == StatusCode::kInvalidArgument) return 400;
  return status.code() == StatusCode::kUnsupported ? 501 : kUnavailable;
}

}  // namespace

void Backend::infer(const inference::ModelInferRequest& request, const CallHead& head,
                    const std::shared_ptr<RequestWork>& work, Respond respond) {
  auto last = [work, respond = std::move(respond)](HttpResponse answer) {
    work->end();
    respond(std::move(answer));
  };
  try {
    begin(request, head, work, last);
  } catch (const std::exception& error) {
    last(response_of(error));
  }
}

// Throws only before it has answered.
void Backend::begin(const inference::ModelInferRequest& request, const CallHead& head,
                    const std::shared_ptr<RequestWork>& work, const Respond& respond) {
  if (const Status status = check_names(request.model_name(), request.model_version());
      !status.ok())
    return respond(refusal(rest_head("", head), status));
  HttpRequest rest = rest_head(request, head);
  if (request.model_name().empty())
    return respond(refusal(rest, invalid_argument("the request names no model")));
  if (auto refused = handler_.refuse(rest)) return respond(*std::move(refused));
  if (const Status status = check_parts(request); !status.ok())
    return respond(refusal(rest, status));
  Result<RestBody> body =
      rest_body(request, [&work](uint64_t bytes) { return work->take_body(bytes); });
  if (!body.ok()) return respond(refusal(rest, body.status()));
  if (body->is_picture)
    rest.fields.emplace_back("Content-Type", "image/any");
  else
    rest.fields.emplace_back(kJsonLengthField, std::to_string(body->json_bytes));
  rest.body = std::move(body->bytes);
  rest.take_answer = [work](uint64_t bytes) { return work->take_answer(bytes); };
  hand_over(std::move(rest), body->json_bytes, work, respond);
}

// The answer to a request that the handler is not given, and only counts.
HttpResponse Backend::refusal(const HttpRequest& head, const Status& status) {
  HttpResponse response = error_response(http_status_of(status), status.message());
  if (response.status == kUnavailable) response.fields.emplace_back("Retry-After", "1");
  handler_.refused(head, response.status);
  return response;
}

void Backend::hand_over(HttpRequest request, size_t json_bytes,
                        const std::shared_ptr<RequestWork>& work, const Respond& respond) {
  if (!handler_.takes_long(request, json_bytes))
    return work->set(handler_.handle(std::move(request), respond));
  const auto shared = std::make_shared<HttpRequest>(std::move(request));
  const auto ticket = workers_.post(
      [this, shared, work, respond] { work->set(handler_.handle(std::move(*shared), respond)); });
  if (ticket == Workers::kNoTask)
    respond(refusal(*shared, {StatusCode::kResourceExhausted, "the server has too much to do"}));
}

void Backend::ask(HttpRequest request, Respond respond) {
  if (auto refused = handler_.refuse(request)) return respond(*std::move(refused));
  handler_.handle(std::move(request), std::move(respond));
}

// The call that describes the server needs the token, and nothing else.
std::optional<HttpResponse> Backend::refuse_stranger(const CallHead& head) {
  return handler_.refuse(rest_head("/v2", head));
}

HttpResponse Backend::refusal(const CallHead& head, const Status& status) {
  return refusal(rest_head("", head), status);
}

void Backend::count_turned_away(std::string remote) noexcept {
  HttpRequest unread;
  unread.origin = {.remote = std::move(remote), .grpc_call = "connection"};
  handler_.refused(unread, kUnavailable);
}

}  // namespace millrace::serve
