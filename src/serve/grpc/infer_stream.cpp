// A stream of inference requests.
//
// gRPC allows one read and one write at a time, and neither after Finish(). Whatever changes the
// state calls pump(), which decides under the mutex what is to begin next and begins it outside:
// gRPC may call back before it returns. Only one thread pumps at a time, so what is decided first
// also begins first.
#include <array>
#include <exception>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "serve/grpc/grpc_status.h"
#include "serve/grpc/infer_calls.h"
#include "serve/grpc/wire_form.h"

namespace millrace::serve {
namespace {

using Request = inference::ModelInferRequest;
using StreamAnswer = inference::ModelStreamInferResponse;

// A request that is being answered, and its answer. The answer has the names of the request from
// the beginning, so that little memory is needed when the request fails.
struct StreamRequest {
  std::shared_ptr<RequestWork> work;
  StreamAnswer answer;
  grpc::ByteBuffer bytes;  // of the answer
};
using StreamRequests = std::list<StreamRequest>;

std::string short_or_empty(const std::string& name) {
  return name.size() <= kLongestName ? name : std::string();
}

void set_names(const Request& request, inference::ModelInferResponse& response) {
  response.set_model_name(short_or_empty(request.model_name()));
  response.set_model_version(short_or_empty(request.model_version()));
  response.set_id(short_or_empty(request.id()));
}

// False if there is no memory for the message.
bool set_failure(const char* message, StreamRequest& taken) noexcept {
  try {
    StreamAnswer& answer = taken.answer;
    answer.mutable_infer_response()->clear_outputs();
    answer.mutable_infer_response()->clear_raw_output_contents();
    answer.set_error_message(*message == 0 ? "the request failed" : message);
    return write_message(answer, taken.bytes).ok();
  } catch (const std::exception&) {
    return false;
  }
}

// False if there is no memory for an answer.
bool fill(const HttpResponse& http, const AnswerForm& form, StreamRequest& taken) noexcept {
  try {
    const auto failure = read_answer(http, form, *taken.answer.mutable_infer_response());
    if (failure) return set_failure(failure->message.c_str(), taken);
    const Status written = write_message(taken.answer, taken.bytes);
    if (!written.ok()) return set_failure(written.message().c_str(), taken);
    taken.answer.Clear();
    return true;
  } catch (const std::exception& error) {
    return set_failure(error.what(), taken);
  }
}

class InferStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public Call,
                          public std::enable_shared_from_this<InferStream> {
 public:
  InferStream(Backend& backend, grpc::CallbackServerContext& context)
      : backend_(backend), context_(context) {}

  void pump();
  void cancel() noexcept override;
  void take_no_more() override;

 private:
  struct Step {
    bool read = false, write = false, finish = false;
    bool any() const { return read || write || finish; }
  };

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override { drop_answers(); }
  void OnDone() override { backend_.calls().end(this); }

  void abort() override { context_.TryCancel(); }
  void drop_answers();
  Step next_step();
  grpc::Status final_status() const noexcept;
  bool begin_request() noexcept;
  void begin_stream_request();
  void answer(StreamRequests::iterator taken, const HttpResponse& http, const AnswerForm& form);

  Backend& backend_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer request_;  // the one that is being read; touched by gRPC, and in OnReadDone()

  std::mutex mutex_;  // guards what follows
  StreamRequests unanswered_;
  StreamRequests answered_;  // the first one is being written while `writing_`
  bool pumping_ = false, again_ = false;
  bool reading_ = false, writing_ = false, finished_ = false;
  bool all_read_ = false;  // the client sends no more
  bool ending_ = false;    // the server takes no more
  bool gone_ = false;      // nobody reads the answers
};

// Requires: the mutex is held. The caller begins what is returned.
InferStream::Step InferStream::next_step() {
  Step step;
  if (finished_) return step;
  set_idle(unanswered_.empty() && answered_.empty());
  const bool takes_more = !all_read_ && !ending_ && !gone_;
  step.read = takes_more && !reading_ && unanswered_.size() + answered_.size() < kMostOfStream;
  step.write = !writing_ && !answered_.empty();
  step.finish = !takes_more && unanswered_.empty() && answered_.empty();
  reading_ = reading_ || step.read;
  writing_ = writing_ || step.write;
  finished_ = step.finish;
  return step;
}

grpc::Status InferStream::final_status() const noexcept {
  try {
    if (gone_) return grpc::Status::CANCELLED;
    if (all_read_) return grpc::Status::OK;
    return {grpc::StatusCode::UNAVAILABLE, "the server is shutting down"};
  } catch (const std::exception&) {
    return grpc::Status::CANCELLED;
  }
}

void InferStream::pump() {
  // gRPC's last callback may come before Finish() returns, and this be the last reference then.
  const std::shared_ptr<InferStream> self = shared_from_this();
  std::unique_lock lock(mutex_);
  again_ = true;
  if (pumping_) return;
  pumping_ = true;
  while (again_) {
    again_ = false;
    const Step step = next_step();
    if (!step.any()) continue;
    const grpc::ByteBuffer* const first = step.write ? &answered_.front().bytes : nullptr;
    const grpc::Status status = step.finish ? final_status() : grpc::Status();
    if (step.write || step.finish) begin_sending();
    lock.unlock();
    if (step.read) StartRead(&request_);
    if (step.write) StartWrite(first);
    if (step.finish) Finish(status);
    lock.lock();
  }
  pumping_ = false;
}

void InferStream::OnReadDone(bool ok) {
  const bool begun = !ok || begin_request();
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    all_read_ = all_read_ || !ok;
  }
  if (begun)
    pump();
  else
    drop_answers();
}

// False if there is no memory for the request.
bool InferStream::begin_request() noexcept {
  try {
    begin_stream_request();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Throws only before the stream has the request, which is answered from then on. A request that
// arrives while the stream is being finished has no answer: the client sees its end.
void InferStream::begin_stream_request() {
  StreamRequests added(1);
  const StreamRequests::iterator taken = added.begin();
  const std::shared_ptr<RequestWork> work = backend_.new_work();
  taken->work = work;
  MemoryCharge charge = backend_.new_charge();
  Request request;
  const Status parsed = parse_request(request_, charge, request);
  request_.Clear();
  set_names(request, *taken->answer.mutable_infer_response());
  const CallHead head = head_of(context_, "ModelStreamInfer");
  Respond respond = [self = shared_from_this(), form = AnswerForm(request),
                     taken](const HttpResponse& http) { self->answer(taken, http, form); };
  HttpResponse refusal = parsed.ok() ? HttpResponse() : backend_.refusal(head, parsed);
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || gone_) return;
    unanswered_.splice(unanswered_.end(), added);
  }
  if (!parsed.ok()) return respond(std::move(refusal));
  backend_.infer(request, head, work, std::move(respond));
}

// It is this thread's until it is among those that are answered.
void InferStream::answer(StreamRequests::iterator taken, const HttpResponse& http,
                         const AnswerForm& form) {
  const bool filled = fill(http, form, *taken);
  StreamRequests dropped;
  {
    const std::lock_guard lock(mutex_);
    StreamRequests& to = filled && !gone_ ? answered_ : dropped;
    to.splice(to.end(), unanswered_, taken);
  }
  if (filled)
    pump();
  else
    drop_answers();
}

void InferStream::OnWriteDone(bool ok) {
  StreamRequests written;
  {
    const std::lock_guard lock(mutex_);
    end_sending();
    writing_ = false;
    written.splice(written.end(), answered_, answered_.begin());
  }
  if (!ok) drop_answers();
  pump();
}

// A work that is cancelled may answer before the call returns, so the lock is not held then.
void InferStream::cancel() noexcept {
  std::array<std::shared_ptr<RequestWork>, kMostOfStream> works;
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const StreamRequest& taken : unanswered_) works[count++] = taken.work;
  }
  for (size_t i = 0; i < count; ++i) works[i]->cancel();
}

// The client is gone, or an answer is missing, so the works need not be done either.
void InferStream::drop_answers() {
  StreamRequests dropped;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    const auto first = std::next(answered_.begin(), writing_ ? 1 : 0);
    dropped.splice(dropped.end(), answered_, first, answered_.end());
  }
  cancel();
  pump();
}

void InferStream::take_no_more() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  pump();
}

// A stream whose client may not ask.
struct RefusedStream final : grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* infer_stream(
    Backend& backend, grpc::CallbackServerContext& context) {
  if (const auto refusal = backend.refuse_stranger(head_of(context, "ModelStreamInfer")))
    return std::make_unique<RefusedStream>(
               grpc_status(failure_of(*refusal).value_or(RestFailure{.status = 401})))
        .release();
  const auto stream = std::make_shared<InferStream>(backend, context);
  backend.calls().begin(stream);
  try {
    stream->pump();
  } catch (const std::exception&) {
    // gRPC answers the call itself then, and calls nothing of it.
    backend.calls().end(stream.get());
    throw;
  }
  return stream.get();
}

}  // namespace millrace::serve
