// Tensors: allocation, slices and attached buffers; synchronous reads, writes and copies, which the
// calling thread makes without any execution unit; and queries. Every call checks all handles and
// ranges before it copies or changes anything.
#include <fmt/format.h>

#include <cstring>

#include "check/check.h"
#include "nrt/calls/call.h"
#include "nrt/nrt.h"
#include "nrt/objects/tensor.h"

namespace millrace::nrt {
namespace {

std::string name_or_empty(const char* name) {
  return name == nullptr ? "" : name;
}

// Runs `body(runtime, tensor)` if the handle is live; otherwise returns NRT_INVALID_HANDLE.
template <class Body>
NRT_STATUS with_tensor(const char* call, const nrt_tensor_t* handle, Body&& body) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    const std::shared_ptr<Tensor>& tensor = TensorHandles::find(handle);
    if (tensor == nullptr) return report(call, NRT_INVALID_HANDLE, kNoTensor);
    trace::note_core(tensor->core());
    return body(runtime, *tensor);
  });
}

// Runs `body(tensor)` if the handle is live. The API specifies NRT_INVALID for a null handle in
// these calls, and NRT_INVALID_HANDLE only for a freed one.
template <class Body>
NRT_STATUS with_output(const char* call, const nrt_tensor_t* handle, Body&& body) noexcept {
  return with_runtime(call, [&](Runtime&) {
    if (handle == nullptr) return report(call, NRT_INVALID, "the tensor is null");
    return with_tensor(call, handle, [&](Runtime&, Tensor& tensor) { return body(tensor); });
  });
}

// Returns the tensor for calls that cannot return a status: null when the handle is not live, or
// without a runtime, since nrt_close ends all handles. Requirement: an InCall exists on the thread.
const Tensor* find_running(const nrt_tensor_t* handle) noexcept {
  return Runtime::current() == nullptr ? nullptr : TensorHandles::find(handle).get();
}

NRT_STATUS give(std::shared_ptr<Tensor> tensor, nrt_tensor_t** handle) {
  *handle = TensorHandles::of_process().make(std::move(tensor));
  return NRT_SUCCESS;
}

NRT_STATUS check_copy(const char* call, const Tensor& tensor, uint64_t offset, const void* buffer,
                      uint64_t bytes) {
  if (const Status range = tensor.check_range(offset, bytes); !range.ok())
    return report(call, range);
  if (buffer == nullptr && bytes != 0) return report(call, NRT_INVALID, "the buffer is null");
  return NRT_SUCCESS;
}

// Calls work(data), which returns a Status, while host access to the range is held (host_access.h).
// Requirement: the range has been checked.
template <class Work>
Status with_range(const char* call, const Tensor& tensor, uint64_t offset, uint64_t bytes,
                  memory::Access access, Work&& work) {
  if (check::on()) [[unlikely]]
    check::note_access(call, tensor.data() + offset, bytes, access == memory::Access::kWrite);
  return memory::with_access(tensor.access(offset, bytes), access,
                             [&] { return work(tensor.data() + offset); });
}

// Copies between the tensor and a buffer. Requirement: check_copy() has accepted the arguments.
NRT_STATUS copy(const char* call, const Tensor& tensor, uint64_t offset, void* buffer,
                uint64_t bytes, bool to_tensor) {
  if (bytes == 0) return NRT_SUCCESS;
  const auto work = [&](std::byte* data) {
    std::memcpy(to_tensor ? data : buffer, to_tensor ? buffer : data, bytes);
    return Status();
  };
  const auto access = to_tensor ? memory::Access::kWrite : memory::Access::kRead;
  return report(call, with_range(call, tensor, offset, bytes, access, work));
}

// Reads or writes one range on the calling thread.
NRT_STATUS copy_range(const char* call, const nrt_tensor_t* handle, uint64_t offset, void* buffer,
                      uint64_t bytes, bool to_tensor) noexcept {
  return with_tensor(call, handle, [&](Runtime&, const Tensor& tensor) {
    const NRT_STATUS status = check_copy(call, tensor, offset, buffer, bytes);
    return status == NRT_SUCCESS ? copy(call, tensor, offset, buffer, bytes, to_tensor) : status;
  });
}

// Runs all transfers of the batches. All ranges are checked before the first one is copied, so a
// call that returns NRT_INVALID or NRT_INVALID_HANDLE has copied nothing.
NRT_STATUS copy_batches(const char* call, const nrt_tensor_batch_t* batches, uint64_t count,
                        bool to_tensor) noexcept {
  const auto for_each_op = [&](auto&& visit) {
    for (uint64_t i = 0; i < count; ++i) {
      const std::shared_ptr<Tensor>& tensor = TensorHandles::find(batches[i].tensor);
      if (tensor == nullptr)
        return report(call, NRT_INVALID_HANDLE, "a tensor of the batch is null or was freed");
      if (batches[i].ops == nullptr && batches[i].num_ops != 0)
        return report(call, NRT_INVALID, "the transfers of a batch are null");
      for (uint32_t op = 0; op < batches[i].num_ops; ++op) {
        const NRT_STATUS status = visit(*tensor, batches[i].ops[op]);
        if (status != NRT_SUCCESS) return status;
      }
    }
    return NRT_SUCCESS;
  };
  return with_runtime(call, [&](Runtime&) {
    if (batches == nullptr && count != 0) return report(call, NRT_INVALID, "the batch is null");
    const NRT_STATUS status =
        for_each_op([&](const Tensor& tensor, const nrt_tensor_batch_op_t& op) {
          return check_copy(call, tensor, op.offset, op.buffer, op.size);
        });
    if (status != NRT_SUCCESS) return status;
    return for_each_op([&](const Tensor& tensor, const nrt_tensor_batch_op_t& op) {
      return copy(call, tensor, op.offset, op.buffer, op.size, to_tensor);
    });
  });
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;
using millrace::Result;
using millrace::Status;
using millrace::memory::Access;

extern "C" {

NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t tensor_placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor) {
  constexpr const char* kCall = "nrt_tensor_allocate";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (tensor == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    if (tensor_placement > NRT_TENSOR_PLACEMENT_VIRTUAL)
      return report(
          kCall, NRT_INVALID,
          fmt::format("there is no placement {}", static_cast<unsigned>(tensor_placement)));
    const bool on_device = tensor_placement == NRT_TENSOR_PLACEMENT_DEVICE;
    if (const Status status = on_device ? runtime.check_core(vnc) : Status(); !status.ok())
      return report(kCall, status);
    const int core = on_device ? vnc : kNoCore;
    trace::note_core(core);
    Result<std::shared_ptr<Tensor>> made =
        Tensor::allocate(runtime.bank(core), core, size, name_or_empty(name));
    return made.ok() ? give(*std::move(made), tensor) : report(kCall, made.status());
  });
}

NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor) {
  constexpr const char* kCall = "nrt_tensor_allocate_empty";
  return with_runtime(kCall, [&](Runtime&) {
    if (tensor == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    return give(Tensor::without_memory(name_or_empty(name)), tensor);
  });
}

NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size) {
  constexpr const char* kCall = "nrt_tensor_attach_buffer";
  return with_tensor(kCall, tensor, [&](Runtime& runtime, Tensor& to) {
    const Status attached = to.attach(buffer, size);
    runtime.bindings().clear();
    return report(kCall, attached);
  });
}

NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* tensor_source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** tensor_slice) {
  constexpr const char* kCall = "nrt_tensor_allocate_slice";
  return with_tensor(kCall, tensor_source, [&](Runtime&, const Tensor& source) {
    if (tensor_slice == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    Result<std::shared_ptr<Tensor>> slice = source.slice(offset, size, name_or_empty(name));
    return slice.ok() ? give(*std::move(slice), tensor_slice) : report(kCall, slice.status());
  });
}

void nrt_tensor_free(nrt_tensor_t** tensor) {
  if (tensor == nullptr) return;
  with_runtime("nrt_tensor_free", [&](Runtime& runtime) {
    if (const std::shared_ptr<Tensor> freed = TensorHandles::of_process().drop(*tensor)) {
      trace::note_core(freed->core());
      if (millrace::check::on()) [[unlikely]]
        millrace::check::note_freed("nrt_tensor_free", fmt::format("tensor \"{}\"", freed->name()),
                                    freed->data(), freed->size());
      runtime.bindings().clear();
    }
    return NRT_SUCCESS;
  });
  *tensor = nullptr;
}

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buf, size_t offset, size_t size) {
  return copy_range("nrt_tensor_read", tensor, offset, buf, size, false);
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buf, size_t offset, size_t size) {
  return copy_range("nrt_tensor_write", tensor, offset, const_cast<void*>(buf), size, true);
}

NRT_STATUS(nrt_tensor_read_batch)(const nrt_tensor_batch_t* batches, uint64_t num_batches) {
  return copy_batches("nrt_tensor_read_batch", batches, num_batches, false);
}
NRT_STATUS(nrt_tensor_write_batch)(const nrt_tensor_batch_t* batches, uint64_t num_batches) {
  return copy_batches("nrt_tensor_write_batch", batches, num_batches, true);
}

NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* src, size_t src_offset, nrt_tensor_t* dst,
                           size_t dst_offset, size_t size) {
  constexpr const char* kCall = "nrt_tensor_copy";
  return with_tensor(kCall, src, [&](Runtime&, const Tensor& from) {
    return with_tensor(kCall, dst, [&](Runtime&, const Tensor& to) {
      for (const Status& status : {check_same_core(from, to), from.check_range(src_offset, size),
                                   to.check_range(dst_offset, size)})
        if (!status.ok()) return report(kCall, status);
      const auto read = [&](const std::byte* source) {
        return with_range(kCall, to, dst_offset, size, Access::kWrite, [&](std::byte* target) {
          std::memmove(target, source, size);
          return Status();
        });
      };
      return report(kCall, with_range(kCall, from, src_offset, size, Access::kRead, read));
    });
  });
}

NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size) {
  constexpr const char* kCall = "nrt_tensor_memset";
  return with_tensor(kCall, tensor, [&](Runtime&, const Tensor& to) {
    if (const Status range = to.check_range(offset, size); !range.ok()) return report(kCall, range);
    return report(kCall,
                  with_range(kCall, to, offset, size, Access::kWrite, [&](std::byte* target) {
                    std::memset(target, value, size);
                    return Status();
                  }));
  });
}

size_t nrt_tensor_get_size(const nrt_tensor_t* tensor) {
  const InCall inside;
  const Tensor* const found = find_running(tensor);
  return found == nullptr ? 0 : found->size();
}

void* nrt_tensor_get_va(const nrt_tensor_t* tensor) {
  const InCall inside;
  const Tensor* const found = find_running(tensor);
  return found == nullptr ? nullptr : found->data();
}

NRT_STATUS nrt_tensor_get_lnc_index(const nrt_tensor_t* tensor, int* lnc_index) {
  constexpr const char* kCall = "nrt_tensor_get_lnc_index";
  return with_tensor(kCall, tensor, [&](Runtime&, const Tensor& found) {
    if (lnc_index == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    *lnc_index = found.core();
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* alloc_info) {
  constexpr const char* kCall = "nrt_tensor_get_device_allocation_info";
  return with_tensor(kCall, tensor, [&](Runtime&, const Tensor& found) {
    if (alloc_info == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    constexpr size_t kGranule = 64;  // allocations are aligned to cache lines
    *alloc_info = {found.device_address(), (found.size() + kGranule - 1) / kGranule * kGranule, 0};
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* output_tensor, int64_t timeout_us,
                                              uint64_t expected_completion_count) {
  constexpr const char* kCall = "nrt_tensor_check_output_completion";
  return with_output(kCall, output_tensor, [&](Tensor& tensor) {
    if (millrace::check::on()) [[unlikely]]
      millrace::check::note_all_asked();
    std::optional<std::chrono::microseconds> timeout;
    if (timeout_us >= 0) timeout.emplace(timeout_us);
    switch (tensor.completions().wait(expected_completion_count, timeout)) {
      case CompletionCount::Outcome::kReached:
        return NRT_SUCCESS;
      case CompletionCount::Outcome::kTimeout:
        return NRT_TIMEOUT;
      case CompletionCount::Outcome::kClosed:
        return NRT_CLOSED;
    }
    return NRT_FAILURE;
  });
}

NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* output_tensor) {
  return with_output("nrt_tensor_reset_output_completion", output_tensor, [](Tensor& tensor) {
    tensor.completions().reset();
    return NRT_SUCCESS;
  });
}

}  // extern "C"
