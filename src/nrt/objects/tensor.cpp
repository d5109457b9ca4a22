#include "nrt/objects/tensor.h"

#include <fmt/format.h>

#include <utility>

#include "memory/fault_gates.h"

namespace millrace::nrt {

Result<std::shared_ptr<Tensor>> Tensor::allocate(memory::Bank& bank, int core, size_t bytes,
                                                 std::string name) {
  MILLRACE_RETURN_IF_ERROR(memory::pass_allocation_gate());
  MILLRACE_ASSIGN_OR_RETURN(memory::BankCharge charge, bank.charge(bytes));
  MILLRACE_ASSIGN_OR_RETURN(memory::Buffer memory,
                            memory::Buffer::allocate(bytes, memory::BufferKind::kHeap));
  std::shared_ptr<Tensor> tensor(new Tensor(std::move(name), core));
  tensor->data_ = memory.data();
  tensor->size_ = bytes;
  tensor->storage_ = std::make_shared<const Storage>(
      Storage{std::move(memory), std::move(charge),
              CountedBytes(core, NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE, bytes)});
  return tensor;
}

std::shared_ptr<Tensor> Tensor::without_memory(std::string name) {
  return std::shared_ptr<Tensor>(new Tensor(std::move(name), kNoCore));
}

Result<std::shared_ptr<Tensor>> Tensor::slice(size_t offset, size_t bytes, std::string name) const {
  if (bytes == 0) return invalid_argument("a slice needs at least 1 byte");
  MILLRACE_RETURN_IF_ERROR(check_range(offset, bytes));
  std::shared_ptr<Tensor> tensor(new Tensor(std::move(name), core_));
  tensor->storage_ = storage_;
  tensor->data_ = data_ + offset;
  tensor->size_ = bytes;
  return tensor;
}

Status Tensor::attach(void* data, size_t bytes) {
  MILLRACE_ASSIGN_OR_RETURN(memory::Buffer memory, memory::Buffer::wrap(data, bytes));
  storage_ = std::make_shared<const Storage>(Storage{std::move(memory), std::nullopt, {}});
  data_ = static_cast<std::byte*>(data);
  size_ = bytes;
  core_ = kNoCore;
  return {};
}

Status Tensor::check_range(uint64_t offset, uint64_t bytes) const {
  if (data_ == nullptr)
    return invalid_argument(fmt::format("tensor \"{}\" has no memory yet", name_));
  if (offset <= size_ && bytes <= size_ - offset) return {};
  return invalid_argument(
      fmt::format("a range of {} bytes at offset {} exceeds tensor \"{}\", which has {} bytes",
                  bytes, offset, name_, size_));
}

Status check_same_core(const Tensor& one, const Tensor& other) {
  if (one.core() == other.core() || one.core() == kNoCore || other.core() == kNoCore) return {};
  return invalid_argument(fmt::format("tensor \"{}\" is on core {}, tensor \"{}\" on core {}",
                                      one.name(), one.core(), other.name(), other.core()));
}

memory::HostAccess Tensor::access(size_t offset, size_t bytes) const noexcept {
  return storage_ == nullptr ? memory::HostAccess()
                             : storage_->memory.host_access().part(data_ + offset, bytes);
}

uint64_t Tensor::device_address() const noexcept {
  if (storage_ == nullptr) return 0;
  return storage_->memory.device_address() + static_cast<uint64_t>(data_ - storage_->memory.data());
}

}  // namespace millrace::nrt
