#include "serve/grpc/backend.h"

#include <exception>
#include <string>
#include <utility>

namespace millrace::serve {

namespace {

HttpResponse busy_answer() noexcept {
  try {
    HttpResponse answer = error_response(503, "other clients do not take their answers");
    answer.fields.emplace_back("Retry-After", "1");
    return answer;
  } catch (const std::exception& error) {
    return response_of(error);
  }
}

}  // namespace

void Backend::infer(const inference::ModelInferRequest& request, const CallHead& head,
                    const std::shared_ptr<RequestWork>& work, Respond respond) {
  auto last = [work, respond = std::move(respond)](HttpResponse answer) {
    work->end();
    const bool fits = answer.status != 200 || work->take_answer(body_size(answer));
    respond(fits ? std::move(answer) : busy_answer());
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
  hand_over(std::move(rest), body->json_bytes, work, respond);
}

// The answer to a request that the handler is not given, and only counts.
HttpResponse Backend::refusal(const HttpRequest& head, const Status& status) {
  const bool is_wrong = status.code() == StatusCode::kInvalidArgument;
  HttpResponse response = error_response(is_wrong ? 400 : 503, status.message());
  if (!is_wrong) response.fields.emplace_back("Retry-After", "1");
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

void Backend::look_up(std::string path, const CallHead& head, Respond respond) {
  HttpRequest request = rest_head(std::move(path), head);
  if (auto refused = handler_.refuse(request)) return respond(*std::move(refused));
  handler_.handle(std::move(request), std::move(respond));
}

}  // namespace millrace::serve
