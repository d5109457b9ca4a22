// A handle points to an immutable State, which owns the memory of a whole buffer, or refers to the
// State of its whole buffer if it is a slice.
#include "memory/buffer.h"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <string>
#include <utility>

#include "base/align.h"
#include "base/hooks.h"
#include "memory/fault_gates.h"
#include "memory/heap_block.h"
#include "memory/mapping.h"

namespace millrace::memory {
namespace {

constexpr size_t kLargest = std::numeric_limits<ptrdiff_t>::max() - kPage;

// Returns addresses that are never reused. There is an unused page between two buffers, so that the
// address one past the end of a buffer belongs to no other. 64 bits suffice for 2^51 buffers of one
// page.
uint64_t new_device_address(size_t bytes) noexcept {
  static std::atomic<uint64_t> next{uint64_t{1} << 32};
  return next.fetch_add(align_up(bytes, kPage) + kPage, std::memory_order_relaxed);
}

constinit std::atomic<uint64_t> all_bytes{0};

bool has_own_memory(BufferKind kind) noexcept {
  return kind == BufferKind::kHeap || kind == BufferKind::kShared;
}

Status check_size(size_t bytes) {
  if (bytes == 0) return invalid_argument("the size of a buffer must be at least 1 byte");
  if (bytes <= kLargest) return {};
  return {StatusCode::kOutOfMemory, fmt::format("{} bytes exceed the address space", bytes)};
}

}  // namespace

// The state of a whole buffer, which owns its memory, or of a slice, which keeps its parent alive.
struct Buffer::State {
  std::byte* data = nullptr;
  size_t size = 0;
  BufferKind kind = BufferKind::kWrapped;
  bool writable = true;
  uint64_t device_address = 0;
  std::shared_ptr<Mapping> mapping;     // only kShared and kImported
  HeapBlock heap;                       // only kHeap
  HostAccess access;                    // empty for memory that needs none
  std::shared_ptr<const State> parent;  // only slices

  State(BufferKind kind, std::byte* data, size_t size)
      : data(data), size(size), kind(kind), device_address(new_device_address(size)) {
    emit(kind == BufferKind::kImported ? HookPoint::kBufferMapped : HookPoint::kBufferMade,
         device_address, size);
    if (has_own_memory(kind)) all_bytes.fetch_add(size, std::memory_order_relaxed);
  }
  State(std::shared_ptr<const State> whole, size_t offset, size_t size)
      : data(whole->data + offset),
        size(size),
        kind(whole->kind),
        writable(whole->writable),
        device_address(whole->device_address + offset),
        mapping(whole->mapping),
        access(whole->access.part(data, size)),
        parent(std::move(whole)) {}
  State(BufferKind kind, std::shared_ptr<Mapping> memory, size_t size)
      : State(kind, memory->data(), size) {
    writable = memory->writable();
    access = HostAccess(memory, size);
    mapping = std::move(memory);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (parent) return;
    if (has_own_memory(kind)) all_bytes.fetch_sub(size, std::memory_order_relaxed);
    emit(HookPoint::kBufferFreed, device_address, size);
  }
};

uint64_t bytes_in_buffers() noexcept {
  return all_bytes.load(std::memory_order_relaxed);
}

Result<Buffer> Buffer::allocate(size_t bytes, BufferKind kind) {
  if (kind == BufferKind::kShared) {
    MILLRACE_ASSIGN_OR_RETURN(const MemorySource source, memory_source_of_environment());
    return allocate(bytes, source);
  }
  MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  if (kind != BufferKind::kHeap)
    return invalid_argument("only heap and shared buffers can be allocated");
  HeapBlock block = make_heap_block(bytes);
  if (!block)
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("cannot allocate {} bytes of heap memory", bytes));
  auto state = std::make_shared<State>(kind, block.get(), bytes);
  state->heap = std::move(block);
  return Buffer(std::move(state));
}

Result<Buffer> Buffer::allocate(size_t bytes, MemorySource source) {
  MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  MILLRACE_RETURN_IF_ERROR(pass_allocation_gate());
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Mapping> mapping, Mapping::create(source, bytes));
  return Buffer(std::make_shared<State>(BufferKind::kShared, std::move(mapping), bytes));
}

Result<Buffer> Buffer::allocate_pages(size_t bytes) {
  MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  MILLRACE_RETURN_IF_ERROR(pass_allocation_gate());
  MILLRACE_ASSIGN_OR_RETURN(const MemorySource source, memory_source_of_environment());
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Mapping> mapping,
                            Mapping::create(source, align_up(bytes, kPage)));
  return Buffer(std::make_shared<State>(BufferKind::kShared, std::move(mapping), bytes));
}

Result<Buffer> Buffer::allocate_in(Bank& bank, size_t bytes) {
  MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  MILLRACE_RETURN_IF_ERROR(pass_allocation_gate());
  MILLRACE_ASSIGN_OR_RETURN(const MemorySource source, memory_source_of_environment());
  MILLRACE_ASSIGN_OR_RETURN(BankCharge charge, bank.charge(bytes));
  MILLRACE_ASSIGN_OR_RETURN(
      std::shared_ptr<Mapping> mapping,
      Mapping::create(source, bytes, std::string(kBankFilePrefix) + bank.name()));
  mapping->set_charge(std::move(charge));
  auto state = std::make_shared<State>(BufferKind::kShared, mapping, bytes);
  if (strict_sync_requested()) {
    MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSide> side,
                              DeviceSide::create(mapping->data(), bytes, state->device_address));
    mapping->set_device_side(std::move(side));
  }
  return Buffer(std::move(state));
}

Result<Buffer> Buffer::wrap(void* data, size_t bytes) {
  MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  if (data == nullptr) return invalid_argument("cannot wrap a null pointer");
  auto state = std::make_shared<State>(BufferKind::kWrapped, static_cast<std::byte*>(data), bytes);
  state->access = HostAccess::of(data, bytes);
  return Buffer(std::move(state));
}

Result<Buffer> Buffer::import_fd(int fd, size_t bytes) {
  MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Mapping> mapping, Mapping::open(fd, bytes));
  return Buffer(std::make_shared<State>(BufferKind::kImported, std::move(mapping), bytes));
}

Result<Buffer> Buffer::slice(size_t offset, size_t bytes) const {
  if (!state_) return invalid_argument("an empty buffer has no slices");
  if (state_->parent) return invalid_argument("a slice cannot be sliced again");
  if (bytes == 0) return invalid_argument("the size of a slice must be at least 1 byte");
  if (offset > state_->size || bytes > state_->size - offset)
    return invalid_argument(fmt::format("{} bytes at offset {} exceed a buffer of {} bytes", bytes,
                                        offset, state_->size));
  return Buffer(std::make_shared<State>(state_, offset, bytes));
}

Buffer Buffer::whole() const {
  return state_ && state_->parent ? Buffer(state_->parent) : *this;
}

Result<int> Buffer::export_fd() const {
  if (!state_ || !state_->mapping)
    return unsupported("only shared and imported buffers have a descriptor to export");
  if (state_->parent) return unsupported("a slice has no descriptor of its own; export its parent");
  return state_->mapping->duplicate_fd();
}

std::byte* Buffer::data() const noexcept {
  return state_ ? state_->data : nullptr;
}
size_t Buffer::size() const noexcept {
  return state_ ? state_->size : 0;
}
BufferKind Buffer::kind() const noexcept {
  return state_ ? state_->kind : BufferKind::kWrapped;
}
bool Buffer::is_slice() const noexcept {
  return state_ && state_->parent;
}
bool Buffer::writable() const noexcept {
  return state_ && state_->writable;
}
uint64_t Buffer::device_address() const noexcept {
  return state_ ? state_->device_address : 0;
}

HostAccess Buffer::host_access() const noexcept {
  return state_ ? state_->access : HostAccess();
}

DeviceSide* Buffer::device_side() const noexcept {
  return state_ && state_->mapping ? state_->mapping->device_side() : nullptr;
}

Status Buffer::sync_for_device(Access access) const {
  if (!state_) return invalid_argument("an empty buffer cannot be synced");
  emit(HookPoint::kBufferSynced, state_->device_address, 0);
  if (DeviceSide* side = device_side()) side->sync_for_device(state_->data, state_->size);
  return state_->access.end(access);
}

Status Buffer::sync_for_host(Access access) const {
  if (!state_) return invalid_argument("an empty buffer cannot be synced");
  emit(HookPoint::kBufferSynced, state_->device_address, 1);
  MILLRACE_RETURN_IF_ERROR(state_->access.begin(access));
  if (DeviceSide* side = device_side()) side->sync_for_host(state_->data, state_->size);
  return {};
}

}  // namespace millrace::memory
