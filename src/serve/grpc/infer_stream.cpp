// A stream of inference requests.
//
// gRPC allows one read and one write at a time, and neither after Finish(). Whatever changes the
// state calls pump(), which decides under the mutex what is to begin next and begins it outside:
// gRPC may call back before it returns. Only one thread pumps at a time, so what is decided first
// also begins first.
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "serve/grpc/grpc_status.h"
#include "serve/grpc/infer_calls.h"

namespace millrace::serve {
namespace {

using Request = inference::ModelInferRequest;
using StreamAnswer = inference::ModelStreamInferResponse;

StreamAnswer failed_answer(const Request& names, const std::string& message) {
  StreamAnswer answer;
  answer.set_error_message(message.empty() ? "the request failed" : message);
  answer.mutable_infer_response()->set_model_name(names.model_name());
  answer.mutable_infer_response()->set_model_version(names.model_version());
  answer.mutable_infer_response()->set_id(names.id());
  return answer;
}

class InferStream final : public grpc::ServerBidiReactor<Request, StreamAnswer>,
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

  void drop_answers();
  Step next_step();
  grpc::Status final_status() const;
  void begin_request();
  void answer(const std::shared_ptr<RequestWork>& work, StreamAnswer answer);

  Backend& backend_;
  grpc::CallbackServerContext& context_;
  Request request_;  // the one that is being read; touched by gRPC, and in OnReadDone()

  std::mutex mutex_;                                        // guards what follows
  std::unordered_set<std::shared_ptr<RequestWork>> works_;  // of requests without an answer
  std::deque<StreamAnswer> answers_;  // the first one is being written while `writing_`
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
  const bool takes_more = !all_read_ && !ending_ && !gone_;
  step.read = takes_more && !reading_ && works_.size() + answers_.size() < kMostOfStream;
  step.write = !writing_ && !answers_.empty();
  step.finish = !takes_more && works_.empty() && answers_.empty();
  reading_ = reading_ || step.read;
  writing_ = writing_ || step.write;
  finished_ = step.finish;
  return step;
}

grpc::Status InferStream::final_status() const {
  if (gone_) return grpc::Status::CANCELLED;
  if (all_read_) return grpc::Status::OK;
  return {grpc::StatusCode::UNAVAILABLE, "the server is shutting down"};
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
    const StreamAnswer* const first = answers_.empty() ? nullptr : &answers_.front();
    const grpc::Status status = final_status();
    lock.unlock();
    if (step.read) StartRead(&request_);
    if (step.write) StartWrite(first);
    if (step.finish) Finish(status);
    lock.lock();
  }
  pumping_ = false;
}

void InferStream::OnReadDone(bool ok) {
  if (ok) begin_request();
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    all_read_ = all_read_ || !ok;
  }
  pump();
}

// A request that arrives while the stream is being finished has no answer: the client sees its end.
void InferStream::begin_request() {
  const auto work = std::make_shared<RequestWork>();
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || gone_) return;
    works_.insert(work);
  }
  Request names;
  names.set_model_name(request_.model_name());
  names.set_model_version(request_.model_version());
  names.set_id(request_.id());
  backend_.infer(
      request_, head_of(context_), work,
      [self = shared_from_this(), form = AnswerForm(request_), names = std::move(names),
       work](const HttpResponse& http) {
        StreamAnswer message;
        try {
          if (const auto failure = read_answer(http, form, *message.mutable_infer_response()))
            message = failed_answer(names, failure->message);
        } catch (const std::exception& error) {
          message = failed_answer(names, error.what());
        }
        self->answer(work, std::move(message));
      });
}

void InferStream::answer(const std::shared_ptr<RequestWork>& work, StreamAnswer answer) {
  {
    const std::lock_guard lock(mutex_);
    works_.erase(work);
    if (!gone_) answers_.push_back(std::move(answer));
  }
  pump();
}

void InferStream::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    answers_.pop_front();
  }
  if (!ok) drop_answers();
  pump();
}

void InferStream::cancel() noexcept {
  std::vector<std::shared_ptr<RequestWork>> works;
  {
    const std::lock_guard lock(mutex_);
    works.assign(works_.begin(), works_.end());
  }
  for (const auto& work : works) work->cancel();
}

// The client is gone, so the works need not be done either.
void InferStream::drop_answers() {
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    answers_.resize(writing_ ? 1 : 0);
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

}  // namespace

grpc::ServerBidiReactor<Request, StreamAnswer>* infer_stream(Backend& backend,
                                                             grpc::CallbackServerContext& context) {
  const auto stream = std::make_shared<InferStream>(backend, context);
  backend.calls().begin(stream);
  stream->pump();
  return stream.get();
}

}  // namespace millrace::serve
