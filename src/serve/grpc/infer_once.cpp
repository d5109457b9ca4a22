#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "serve/grpc/grpc_status.h"
#include "serve/grpc/infer_calls.h"
#include "serve/grpc/wire_form.h"

namespace millrace::serve {
namespace {

// Clients with a retry policy wait for so long, as gRPC's retry design says.
constexpr const char* kPushback = "grpc-retry-pushback-ms";

// gRPC says "ipv4:127.0.0.1:40000" and "ipv6:%5B::1%5D:40000".
std::string remote_of(const std::string& peer) {
  std::string remote = peer.substr(peer.find(':') + 1);
  for (const auto& [code, letter] : {std::pair("%5B", "["), std::pair("%5D", "]")})
    if (const size_t at = remote.find(code); at != std::string::npos) remote.replace(at, 3, letter);
  return remote;
}

class InferOnce final : public grpc::ServerUnaryReactor,
                        public Call,
                        public std::enable_shared_from_this<InferOnce> {
 public:
  InferOnce(Backend& backend, grpc::CallbackServerContext& context, grpc::ByteBuffer& response)
      : backend_(backend), context_(context), response_(response), work_(backend.new_work()) {}

  void begin(const grpc::ByteBuffer& bytes) {
    const CallHead head = head_of(context_, "ModelInfer");
    MemoryCharge charge = backend_.new_charge();
    inference::ModelInferRequest request;
    if (const auto refusal = backend_.refuse_stranger(head))
      return answer(*refusal, AnswerForm(request));
    if (const Status status = parse_request(bytes, charge, request); !status.ok())
      return answer(backend_.refusal(head, status), AnswerForm(request));
    backend_.infer(request, head, work_,
                   [self = shared_from_this(), form = AnswerForm(request)](
                       const HttpResponse& answer) { self->answer(answer, form); });
  }

  void cancel() noexcept override { work_->cancel(); }
  void take_no_more() override {}
  void abort() override { context_.TryCancel(); }

 private:
  void OnCancel() override { cancel(); }
  void OnDone() override { backend_.calls().end(this); }

  void answer(const HttpResponse& answer, const AnswerForm& form) {
    grpc::Status status;
    try {
      inference::ModelInferResponse response;
      if (const auto failure = read_answer(answer, form, response)) {
        status = grpc_status(*failure);
        if (failure->retry_seconds > 0)
          context_.AddTrailingMetadata(kPushback, std::to_string(failure->retry_seconds * 1000));
      } else if (const Status written = write_message(response, response_); !written.ok()) {
        status = {grpc::StatusCode::RESOURCE_EXHAUSTED, written.message()};
      }
    } catch (const std::exception& error) {
      status = grpc_status(error);
    }
    begin_sending();
    Finish(status);
  }

  Backend& backend_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  const std::shared_ptr<RequestWork> work_;
};

}  // namespace

CallHead head_of(const grpc::CallbackServerContext& context, std::string_view name) {
  CallHead head;
  head.name = name;
  head.remote = remote_of(context.peer());
  const auto deadline = context.deadline();
  if (deadline != std::chrono::system_clock::time_point::max())
    head.time_left = deadline - std::chrono::system_clock::now();
  const auto& metadata = context.client_metadata();
  const auto text_of = [](const grpc::string_ref& value) {
    return std::string(value.data(), value.size());
  };
  if (const auto found = metadata.find("authorization"); found != metadata.end())
    head.authorization = text_of(found->second);
  if (const auto found = metadata.find("traceparent");
      found != metadata.end() && metadata.count("traceparent") == 1)
    head.traceparent = text_of(found->second);
  return head;
}

grpc::ServerUnaryReactor* infer_once(Backend& backend, grpc::CallbackServerContext& context,
                                     const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
  const auto call = std::make_shared<InferOnce>(backend, context, response);
  backend.calls().begin(call);
  try {
    call->begin(request);
  } catch (const std::exception&) {
    // gRPC answers the call itself then, and calls nothing of it.
    backend.calls().end(call.get());
    throw;
  }
  return call.get();
}

}  // namespace millrace::serve
