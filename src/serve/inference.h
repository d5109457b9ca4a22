// Inference: one request on its way through a job, from its body to its answer.
//
// It is shared by the connection, which may cancel it, and by the callback of its job. The callback
// runs on a thread of Millrace and makes the answer, unless that has so much text that a worker
// does. A very short job of an idle model runs on the thread of the connection instead. Whatever
// happens, exactly one answer is given. If the model batches requests, its Batcher has the job
// instead.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/millrace.hpp"
#include "serve/batching/batch_member.h"
#include "serve/http/message.h"
#include "serve/http/workers.h"
#include "serve/models/served_model.h"
#include "serve/protocol/infer_request.h"
#include "serve/protocol/infer_response.h"

namespace millrace::serve {

class Inference : public Work, public BatchMember, public std::enable_shared_from_this<Inference> {
 public:
  // Runs or submits the job. Returns null if the job has ended or could not be submitted: then
  // `respond` has been called, or a worker will call it. The model is kept until the inference is
  // destroyed; `workers` must outlive the job.
  static std::shared_ptr<Inference> start(ServedModel& model, InferRequest request, Respond respond,
                                          Workers& workers);

  void cancel() noexcept override;

  uint32_t frames() const noexcept override { return rows_ > 0 ? rows_ : request_.frames; }
  Deadline deadline() const noexcept override { return request_.deadline; }
  void bind(std::vector<TensorArg>& inputs, std::vector<TensorArg>& outputs) override;
  std::span<const std::byte> input(size_t index) const noexcept override {
    return request_.inputs[index].bytes;
  }
  void take_output(size_t index, const TensorShape& shape,
                   std::span<const std::byte> rows) noexcept override;
  void ran(const JobSpan& span) noexcept override;
  void finish(const Status& status) noexcept override;
  void keep_for_good() noexcept override;

 private:
  struct Output {
    MemoryBlock memory;
    TensorShape shape;
  };
  // A job that hung may use these for ever.
  struct KeptMemory {
    MemoryBlock body;
    std::vector<InputTensor> inputs;
    std::vector<Output> outputs;
    std::shared_ptr<const void> charge;
    std::unique_ptr<KeptMemory> next;
  };

  Inference(ServedModel& model, InferRequest request, Respond respond, Workers& workers);

  Status allocate_outputs();
  size_t bytes_for(size_t output) const;
  Status begin();
  bool has_small_answer() const;
  bool ran_here();
  void bind_inputs(std::vector<TensorArg>& args);
  void bind_outputs(std::vector<TensorArg>& args);
  Status submit();
  void on_end(const Status& status);
  void answer_after(const Status& status);
  bool needs_more_memory();
  void hand_memory_to(HttpResponse& response);
  void answer_with_outputs();
  void expect_outputs() const;
  std::vector<OutputTensor> wanted_outputs() const;
  HttpResponse response_with(const std::vector<OutputTensor>& outputs);
  void answer_with(const Status& status);
  void respond(HttpResponse response);

  const std::shared_ptr<ServedModel> model_;
  InferRequest request_;
  const uint32_t rows_;  // by which it can be joined with others; 0: it cannot
  const Respond respond_;
  Workers& workers_;
  std::vector<Output> outputs_;  // in the order of the model
  const Deadline begun_;         // when the request was ready for a job
  JobSpan span_;                 // of the job, which writes it
  std::optional<JobTimes> times_;
  // Guards the handle: the callback may run before the submit returns, and a cancel at any time.
  std::mutex mutex_;
  Job job_;
  bool cancelled_ = false;
  // For keep_for_good(), which must not fail, so it is made beforehand.
  std::unique_ptr<KeptMemory> kept_ = std::make_unique<KeptMemory>();
};

// Returns the answer for a failure.
HttpResponse response_of(const Status& status, uint32_t retry_after_seconds);

}  // namespace millrace::serve
