#include "serve/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/never_destroyed.h"

namespace millrace::serve {
namespace {

// The thread of a connection makes no larger answers than these.
constexpr size_t kMostElementsHere = 1000, kMostBytesHere = 16 << 10;
// Answers with more elements in JSON are made by a worker.
constexpr size_t kMostElementsInCallback = 16 << 10;
// And so are those with more bytes for shared memory.
constexpr size_t kMostSharedInCallback = 1 << 20;

size_t shared_bytes(std::span<const OutputTensor> outputs) {
  size_t bytes = 0;
  for (const OutputTensor& output : outputs)
    if (output.part != nullptr) bytes += output.bytes.size();
  return bytes;
}

Status write_shared(std::span<const OutputTensor> outputs) {
  for (const OutputTensor& output : outputs) {
    if (output.part == nullptr) continue;
    if (output.bytes.size() > output.part->bytes)
      return invalid_argument(
          fmt::format("output \"{}\" has {} bytes, and its part of the shared "
                      "memory region {}",
                      output.name, output.bytes.size(), output.part->bytes));
    MILLRACE_RETURN_IF_ERROR(output.part->region->write(output.part->offset, output.bytes));
  }
  return {};
}

unsigned http_status(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kCorruptData:
      return 400;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kQueueFull:
    case StatusCode::kDropped:
      return 429;
    case StatusCode::kDeadlineExceeded:
      return 504;
    case StatusCode::kCancelled:
    case StatusCode::kClosed:
    case StatusCode::kUnitDegraded:
    case StatusCode::kNoLane:
    case StatusCode::kOutOfMemory:
    case StatusCode::kResourceExhausted:
      return 503;
    case StatusCode::kUnsupported:
      return 501;
    default:
      return 500;
  }
}

// The product of the dimensions and the size of the type.
size_t bytes_of(const TensorShape& shape, DataType type) {
  size_t bytes = size_of(type);
  for (uint32_t i = 0; i < shape.rank; ++i) bytes *= shape.dims[i];
  return bytes;
}

// Frames of an output lie one after another along its first dimension.
void join_frames(TensorShape& shape, uint32_t frames) {
  if (shape.rank == 0) {
    shape.rank = 1;
    shape.dims[0] = 1;
  }
  shape.dims[0] *= frames;
}

}  // namespace

HttpResponse response_of(const Status& status, uint32_t retry_after_seconds) {
  HttpResponse response = error_response(http_status(status.code()), status.message());
  if (response.status == 429 || response.status == 503)
    response.fields.emplace_back("Retry-After", std::to_string(retry_after_seconds));
  return response;
}

Inference::Inference(ServedModel& model, InferRequest request, Respond respond, Workers& workers)
    : model_(model.shared_from_this()),
      request_(std::move(request)),
      rows_(model.rows_of(request_)),
      respond_(std::move(respond)),
      workers_(workers),
      outputs_(model.model().outputs().size()),
      begun_(std::chrono::steady_clock::now()) {}

std::shared_ptr<Inference> Inference::start(ServedModel& model, InferRequest request,
                                            Respond respond, Workers& workers) {
  std::shared_ptr<Inference> inference(
      new Inference(model, std::move(request), std::move(respond), workers));
  Status status = inference->allocate_outputs();
  if (status.ok() && inference->ran_here()) return nullptr;
  if (status.ok()) status = inference->begin();
  if (status.ok()) return inference;
  inference->answer_with(status);
  return nullptr;
}

// Requests that cannot be joined with others run alone.
Status Inference::begin() {
  Batcher* const batcher = model_->batcher();
  if (batcher == nullptr || (model_->joins_rows() && rows_ == 0)) return submit();
  return batcher->add(shared_from_this());
}

// Whether the answer takes little time, as far as it is made after the job.
bool Inference::has_small_answer() const {
  size_t elements = 0, bytes = 0;
  for (const WantedOutput& want : request_.outputs) {
    const ViewInfo& view = model_->model().outputs()[want.index].cpu;
    bytes += view.bytes;
    if (!want.binary) elements += view.elements;
  }
  return elements <= kMostElementsHere && bytes <= kMostBytesHere;
}

// Runs the job on this thread, and answers, if that takes less time than to hand it over. Nobody
// can cancel it meanwhile.
bool Inference::ran_here() {
  if (!model_->runs_here() || model_->batcher() != nullptr || request_.frames != 1 ||
      !has_small_answer() || request_.deadline <= std::chrono::steady_clock::now())
    return false;
  std::vector<TensorArg> inputs, outputs;
  bind(inputs, outputs);
  const JobArgs args = {
      .inputs = inputs, .outputs = outputs, .frames = request_.frames, .span = &span_};
  const std::optional<Status> status = model_->execute_here(args, frames());
  if (!status) return false;
  on_end(*status);
  return true;
}

// The memory that an output needs, or probably does if it is open.
size_t Inference::bytes_for(size_t output) const {
  if (rows_ > 0) return model_->row_bytes(output) * rows_;
  const ViewInfo& view = model_->model().outputs()[output].cpu;
  return (view.is_open ? model_->expected_bytes(output) : view.bytes) * request_.frames;
}

// The memory is cleared, so that a device that leaves outputs as they are shows nobody's data.
Status Inference::allocate_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!MemoryBlock::allocate(bytes_for(i), 0, outputs_[i].memory))
      return {StatusCode::kOutOfMemory, "there is not enough memory for the outputs"};
    std::ranges::fill(outputs_[i].memory.bytes(), std::byte{0});
  }
  return {};
}

// A tensor holds all frames, one after another; a job takes them apart.
void Inference::bind_inputs(std::vector<TensorArg>& args) {
  const auto infos = model_->model().inputs();
  for (uint32_t frame = 0; frame < request_.frames; ++frame) {
    for (size_t i = 0; i < infos.size(); ++i) {
      InputTensor& input = request_.inputs[i];
      const size_t bytes = input.bytes.size() / request_.frames;
      TensorArg& arg = args.emplace_back(input.bytes.subspan(frame * bytes, bytes));
      if (infos[i].cpu.is_open) arg.shape = &input.shape;
    }
  }
}

void Inference::bind_outputs(std::vector<TensorArg>& args) {
  const auto infos = model_->model().outputs();
  for (uint32_t frame = 0; frame < request_.frames; ++frame) {
    for (size_t i = 0; i < infos.size(); ++i) {
      Output& output = outputs_[i];
      const size_t bytes = output.memory.size() / request_.frames;
      TensorArg& arg = args.emplace_back(output.memory.bytes().subspan(frame * bytes, bytes));
      arg.shape = &output.shape;
    }
  }
}

void Inference::take_output(size_t index, const TensorShape& shape,
                            std::span<const std::byte> rows) noexcept {
  std::ranges::copy(rows, outputs_[index].memory.data());
  outputs_[index].shape = shape;
}

void Inference::bind(std::vector<TensorArg>& inputs, std::vector<TensorArg>& outputs) {
  bind_inputs(inputs);
  bind_outputs(outputs);
}

Status Inference::submit() {
  std::vector<TensorArg> inputs, outputs;
  bind(inputs, outputs);
  const std::lock_guard lock(mutex_);
  if (cancelled_) return {StatusCode::kCancelled, "the client has closed its connection"};
  const JobArgs args = {.inputs = inputs,
                        .outputs = outputs,
                        .frames = request_.frames,
                        .deadline = request_.deadline,
                        .callback = [self = shared_from_this()](
                                        JobId, const Status& status) { self->on_end(status); },
                        .span = &span_};
  MILLRACE_ASSIGN_OR_RETURN(job_, model_->submit(args, frames()));
  return {};
}

void Inference::cancel() noexcept {
  if (Batcher* const batcher = model_->batcher()) batcher->cancel(*this);
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  // The outcome is what the callback reports.
  if (job_) static_cast<void>(job_.cancel(std::chrono::nanoseconds(0)));
}

// In a list that begins in static memory, so that leak checkers know of it. The model is not kept:
// the job holds what it uses of it.
void Inference::keep_for_good() noexcept {
  static NeverDestroyed<std::mutex> mutex;
  static NeverDestroyed<std::unique_ptr<KeptMemory>> first;
  if (!kept_) return;
  kept_->body = std::move(request_.body);
  kept_->inputs = std::move(request_.inputs);
  kept_->outputs = std::move(outputs_);
  kept_->charge = std::move(request_.charge);
  const std::lock_guard lock(mutex.get());
  kept_->next = std::move(first.get());
  first.get() = std::move(kept_);
}

void Inference::on_end(const Status& status) {
  model_->job_ended();
  {
    const std::lock_guard lock(mutex_);
    job_.detach();
  }
  // The thread of a job that hung may still write to its tensors, so their memory is never freed.
  if (status.code() == StatusCode::kHung) keep_for_good();
  ran(span_);
  finish(status);
}

void Inference::ran(const JobSpan& span) noexcept {
  if (span.began == decltype(span.began)()) return;
  times_ = {.queued = span.began - begun_, .computed = span.ended - span.began};
  model_->ran(request_.reading, *times_);
}

void Inference::finish(const Status& status) noexcept {
  try {
    answer_after(status);
  } catch (const std::exception& error) {
    respond(response_of(error));
  }
}

void Inference::respond(HttpResponse response) {
  response.times = times_;
  respond_(std::move(response));
}

// Throws only before it has answered.
void Inference::answer_after(const Status& status) {
  if (status.ok()) return answer_with_outputs();
  Status outcome = status;
  if (status.code() == StatusCode::kInvalidArgument && needs_more_memory()) {
    outcome = submit();
    if (outcome.ok()) return;
  }
  answer_with(outcome);
}

// After a job that failed because an open output was larger than its memory: allocates enough.
bool Inference::needs_more_memory() {
  bool more = false;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorInfo& info = model_->model().outputs()[i];
    Output& output = outputs_[i];
    if (!info.cpu.is_open || output.shape.rank == 0) continue;
    const size_t bytes = bytes_of(output.shape, info.cpu.type);
    if (bytes <= output.memory.size()) continue;
    if (!MemoryBlock::allocate(bytes, 0, output.memory)) return false;
    more = true;
  }
  return more;
}

void Inference::expect_outputs() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorInfo& info = model_->model().outputs()[i];
    if (info.cpu.is_open) model_->took_bytes(i, bytes_of(outputs_[i].shape, info.cpu.type));
  }
}

std::vector<OutputTensor> Inference::wanted_outputs() const {
  std::vector<OutputTensor> wanted;
  for (const WantedOutput& want : request_.outputs) {
    const TensorInfo& info = model_->model().outputs()[want.index];
    const Output& output = outputs_[want.index];
    OutputTensor& tensor = wanted.emplace_back();
    tensor.name = info.name;
    tensor.type = info.cpu.type;
    tensor.shape = output.shape;
    if (request_.frames > 1) join_frames(tensor.shape, request_.frames);
    tensor.bytes = output.memory.bytes().first(bytes_of(tensor.shape, tensor.type));
    tensor.binary = want.binary;
    tensor.classes = want.classes;
    if (want.part) tensor.part = &*want.part;
  }
  return wanted;
}

// Only the memory of outputs that are sent raw is needed any longer.
void Inference::hand_memory_to(HttpResponse& response) {
  request_.inputs.clear();
  request_.body = {};
  request_.charge.reset();
  if (response.raw.empty()) return;
  response.owner = shared_from_this();
  for (const Output& output : outputs_) response.held_bytes += output.memory.size();
}

HttpResponse Inference::response_with(const std::vector<OutputTensor>& outputs) {
  HttpResponse response;
  if (const Status status = write_shared(outputs); !status.ok())
    response = response_of(status, 1);
  else
    response =
        infer_response(model_->name(), model_->version(), request_.id, outputs, model_->labels());
  hand_memory_to(response);
  response.request_id = std::move(request_.id);
  return response;
}

void Inference::answer_with_outputs() {
  expect_outputs();
  model_->computed(request_.frames);
  auto answer = [self = shared_from_this(), outputs = wanted_outputs()] {
    const auto begin = std::chrono::steady_clock::now();
    HttpResponse response;
    try {
      response = self->response_with(outputs);
      self->model_->wrote(std::chrono::steady_clock::now() - begin);
    } catch (const std::exception& error) {
      response = response_of(error);
    }
    self->respond(std::move(response));
  };
  // When the workers have too much to do, this thread does it, and the jobs behind this one wait.
  const std::vector<OutputTensor> outputs = wanted_outputs();
  if ((json_elements(outputs) <= kMostElementsInCallback &&
       shared_bytes(outputs) <= kMostSharedInCallback) ||
      workers_.post(answer) == Workers::kNoTask)
    answer();
}

void Inference::answer_with(const Status& status) {
  switch (status.code()) {
    case StatusCode::kQueueFull:
      model_->metrics().refused();
      break;
    case StatusCode::kCancelled:
      model_->metrics().cancelled();
      break;
    case StatusCode::kDeadlineExceeded:
      model_->metrics().late();
      break;
    default:
      break;
  }
  HttpResponse response = response_of(status, model_->retry_after_seconds());
  response.request_id = std::move(request_.id);
  respond(std::move(response));
}

}  // namespace millrace::serve
