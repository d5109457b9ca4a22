// Memory of an NpuTensor: wrapped (user pointers, DMA-BUF descriptors, buffer objects), allocated
// by a runner in a memory bank, or a slice of such an allocation.
#include "vart/tensors/tensor_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "base/cancellation.h"
#include "base/process/forked_child.h"
#include "vart/tensors/tensor_info.h"
#include "vart/value_or_runtime_error.h"

namespace vart {
namespace {

using millrace::LogLevel;
using millrace::Result;
using millrace::Status;
using millrace::memory::Buffer;
using millrace::vartml::RunnerLog;
using millrace::vartml::value_or_runtime_error;

// Refuses to work in a forked child, where a mutex that a thread of the parent held stays locked.
void check_not_forked() {
  if (millrace::is_forked_child()) throw std::runtime_error(millrace::forked_status().message());
}

void check_wrap(const NpuTensorInfo& info, const void* buffer, MemoryType type) {
  const auto refuse = [&](std::string_view why) {
    throw std::runtime_error(fmt::format("tensor \"{}\": {}", info.name, why));
  };
  if (buffer == nullptr) refuse("the buffer is null");
  if (to_string(type) == "UNKNOWN") refuse("the memory type is UNKNOWN");
  if (const char* missing = millrace::vartml::missing_in(info))
    refuse(fmt::format("the description has no {}", missing));
  if (type == MemoryType::USER_POINTER_NON_CMA && info.tensor_type == TensorType::HW)
    refuse("an HW tensor cannot use USER_POINTER_NON_CMA memory");
}

Buffer find_buffer_object(const NpuTensorInfo& info, const void* object) {
  Buffer found = millrace::memory::BufferHandle::find(object);
  if (!found)
    throw std::runtime_error(fmt::format(
        "tensor \"{}\": the XRT_BO pointer is not a buffer object of Millrace", info.name));
  if (found.size() < info.size_in_bytes)
    throw std::runtime_error(
        fmt::format("tensor \"{}\": the buffer object has {} bytes, but the description needs {}",
                    info.name, found.size(), info.size_in_bytes));
  return found;
}

}  // namespace

TensorState::TensorState(const NpuTensorInfo& info, MemoryType type, bool read_only)
    : info_(info), type_(type), read_only_(read_only), writable_(!read_only) {}

TensorState::~TensorState() {
  const millrace::CancellationOff whole;
  if (fd_ >= 0) ::close(fd_);
}

TensorState::Pointer TensorState::wrap(const NpuTensorInfo& info, void* buffer, MemoryType type,
                                       bool read_only) {
  check_not_forked();
  check_wrap(info, buffer, type);
  auto state = std::make_shared<TensorState>(info, type, read_only);
  if (type == MemoryType::XRT_BO) {
    state->adopt(find_buffer_object(info, buffer));
    state->wrapped_object_ = buffer;
  } else if (type == MemoryType::DMA_FD) {
    const int fd = *static_cast<const int*>(buffer);
    state->adopt(value_or_runtime_error(Buffer::import_fd(fd, info.size_in_bytes), info));
  } else {
    state->data_ = buffer;
    state->access_ = millrace::memory::HostAccess::of(buffer, info.size_in_bytes);
  }
  return state;
}

TensorState::Pointer TensorState::allocate(const NpuTensorInfo& info, millrace::memory::Bank& bank,
                                           std::shared_ptr<const RunnerLog> log) {
  check_not_forked();
  auto state = std::make_shared<TensorState>(info, MemoryType::XRT_BO, false);
  state->adopt(value_or_runtime_error(Buffer::allocate_in(bank, info.size_in_bytes), info));
  state->buffer_object_.emplace(state->buffer_);
  state->allocated_ = true;
  state->log_ = std::move(log);
  return state;
}

TensorState::Pointer TensorState::slice(const Pointer& parent, const NpuTensorInfo& info,
                                        size_t offset) {
  const auto refuse = [&](std::string_view why) {
    throw std::invalid_argument(fmt::format("sub-tensor \"{}\": {}", info.name, why));
  };
  check_not_forked();
  if (parent == nullptr || !parent->allocated_) refuse("the parent was not allocated by a runner");
  if (parent->buffer_.is_slice()) refuse("the parent is a sub-tensor itself");
  if (const char* missing = millrace::vartml::missing_in(info))
    refuse(fmt::format("the description has no {}", missing));
  if (offset > parent->buffer_.size() || info.size_in_bytes > parent->buffer_.size() - offset)
    refuse(fmt::format("{} bytes at offset {} exceed the parent, which has {} bytes",
                       info.size_in_bytes, offset, parent->buffer_.size()));
  auto state = std::make_shared<TensorState>(info, MemoryType::XRT_BO, false);
  state->adopt(value_or_runtime_error(parent->buffer_.slice(offset, info.size_in_bytes), info));
  state->buffer_object_.emplace(state->buffer_);
  state->allocated_ = true;
  if (offset == 0) state->parent_ = parent->buffer_;
  state->log_ = parent->log_;
  return state;
}

void TensorState::adopt(Buffer buffer) {
  buffer_ = std::move(buffer);
  data_ = buffer_.data();
  device_side_ = buffer_.device_side();
  writable_ = writable_ && buffer_.writable();
  access_ = buffer_.host_access();
}

uint64_t TensorState::physical_address() const noexcept {
  return type_ == MemoryType::XRT_BO ? buffer_.device_address() : 0;
}

void* TensorState::handle() const noexcept {
  switch (type_) {
    case MemoryType::XRT_BO:
      if (wrapped_object_ != nullptr) return wrapped_object_;
      return const_cast<millrace::vartml::BufferObject*>(&*buffer_object_);
    case MemoryType::DMA_FD:
      own_fd();
      return &fd_;
    default:
      return data_;
  }
}

int TensorState::own_fd() const noexcept {
  std::call_once(fd_once_, [this] { fd_ = export_fd(); });
  return fd_;
}

void TensorState::sync() const {
  if (!allocated_)
    throw std::runtime_error(fmt::format(
        "tensor \"{}\": only tensors that a runner allocated can be synced", info_.name));
  const Status status = info_.direction == TensorDirection::INPUT ? buffer_.sync_for_device()
                                                                  : buffer_.sync_for_host();
  if (!status.ok())
    throw std::runtime_error(fmt::format("tensor \"{}\": {}", info_.name, status.message()));
}

int TensorState::export_fd() const noexcept {
  if (!buffer_) return -1;
  const Result<int> fd = (parent_ ? parent_ : buffer_).export_fd();
  if (fd.ok()) return *fd;
  // A slice at another offset than 0 never has a descriptor, so that is not worth a warning.
  const bool inner = buffer_.is_slice() && !parent_;
  const LogLevel level = inner ? LogLevel::kDebug : LogLevel::kWarning;
  const std::string line =
      fmt::format("export_buffer: tensor \"{}\": {}", info_.name, fd.status().message());
  if (log_ != nullptr)
    log_->write(level, line);
  else
    millrace::log(level, "vart", line);
  return -1;
}

}  // namespace vart
