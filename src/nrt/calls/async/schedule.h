// Scheduling of requests: the implementation that all published forms of a call share.
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

// For Route::core: the core of the tensor, the model or the communicator; 0 for tensors of the
// host.
inline constexpr std::nullopt_t kCoreOfObject = std::nullopt;

// The call, the unit that runs the request, and the variable that receives the request's id.
struct Route {
  const char* call;  // for messages
  UnitKind kind;
  std::optional<int> core;  // as the caller gave it; checked when the request is scheduled
  int queue;
  nrta_seq_t* sequence;  // may be null
};

// The receiver of the request's status; one of the two may be set.
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
// Takes over the context, and sets the caller's pointer to null.
NRT_STATUS schedule_collective(const Route& route, nrt_cc_context** context, Reply reply) noexcept;

}  // namespace millrace::nrt
