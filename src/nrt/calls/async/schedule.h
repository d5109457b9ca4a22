// Scheduling of asynchronous requests, the implementation behind all published signatures of the
// nrta_ calls. Each function checks its arguments, looks up the tensors and submits a task to the
// execution unit. It does not block: a full unit gives NRT_QUEUE_FULL. On failure no id is issued.
#pragma once

#include <cstdint>
#include <optional>

#include "nrt/nrt_async.h"
#include "nrt/objects/error_tracker.h"
#include "nrt/objects/model.h"
#include "nrt/objects/tensor.h"
#include "nrt/requests/collective.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {

// Value of Route::core for the core of the tensor, model or collective; core 0 if the tensor is in
// host memory.
inline constexpr std::nullopt_t kCoreOfObject = std::nullopt;

// The name of the call, the unit that runs the request, and the variable that receives its id.
struct Route {
  const char* call;  // for log messages
  UnitKind kind;
  std::optional<int> core;  // as the caller gave it; checked when the request is scheduled
  int queue;
  nrta_seq_t* sequence;  // may be null
};

// The destination of the request's status: at most one of the two is set.
struct Reply {
  NRT_STATUS* ret = nullptr;
  nrta_error_tracker* tracker = nullptr;
};
inline Reply to(NRT_STATUS* ret) noexcept {
  return {ret, nullptr};
}
inline Reply to(nrta_error_tracker* tracker) noexcept {
  return {nullptr, tracker};
}

NRT_STATUS schedule_read(const Route& route, void* buffer, nrt_tensor* tensor, uint64_t offset,
                         uint64_t bytes, Reply reply) noexcept;
NRT_STATUS schedule_write(const Route& route, nrt_tensor* tensor, const void* buffer,
                          uint64_t offset, uint64_t bytes, Reply reply) noexcept;
NRT_STATUS schedule_copy(const Route& route, nrt_tensor* source, uint64_t source_offset,
                         nrt_tensor* target, uint64_t target_offset, uint64_t bytes,
                         Reply reply) noexcept;
NRT_STATUS schedule_execution(const Route& route, nrt_model* model, const nrt_tensor_set_t* inputs,
                              nrt_tensor_set_t* outputs, Reply reply) noexcept;
// Consumes the prepared collective and sets the caller's pointer to null, unless it fails.
NRT_STATUS schedule_collective(const Route& route, nrt_cc_context** context, Reply reply) noexcept;

}  // namespace millrace::nrt
