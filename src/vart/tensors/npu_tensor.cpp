#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "vart/tensors/tensor_state.h"
#include "vart/vart_npu_tensor.hpp"

namespace vart {
namespace {

const NpuTensorInfo& empty_info() {
  static const NpuTensorInfo* const info = new NpuTensorInfo;  // never destroyed
  return *info;
}

}  // namespace

NpuTensor::NpuTensor() noexcept = default;

NpuTensor::NpuTensor(const NpuTensorInfo& info, void* buffer, MemoryType mem_type)
    : state_(TensorState::wrap(info, buffer, mem_type, false)) {}

NpuTensor::NpuTensor(const NpuTensorInfo& info, const void* buffer, MemoryType mem_type)
    : state_(TensorState::wrap(info, const_cast<void*>(buffer), mem_type, true)) {}

NpuTensor::NpuTensor(std::shared_ptr<const TensorState> state) noexcept
    : state_(std::move(state)) {}

NpuTensor::NpuTensor(const NpuTensor& other) noexcept = default;
NpuTensor& NpuTensor::operator=(const NpuTensor& other) noexcept = default;
NpuTensor::NpuTensor(NpuTensor&& other) noexcept = default;
NpuTensor& NpuTensor::operator=(NpuTensor&& other) noexcept = default;
NpuTensor::~NpuTensor() = default;

void* NpuTensor::get_buffer() {
  return state_ == nullptr || state_->read_only() ? nullptr : state_->handle();
}

const void* NpuTensor::get_buffer() const {
  return state_ == nullptr ? nullptr : state_->handle();
}

void* NpuTensor::get_virtual_address() {
  if (state_ == nullptr || state_->read_only() || state_->type() == MemoryType::DMA_FD)
    return nullptr;
  return state_->data();
}

const void* NpuTensor::get_virtual_address() const {
  return state_ == nullptr || state_->type() == MemoryType::DMA_FD ? nullptr : state_->data();
}

uint64_t NpuTensor::get_physical_address() const {
  return state_ == nullptr ? 0 : state_->physical_address();
}

const NpuTensorInfo& NpuTensor::get_info() const {
  return state_ == nullptr ? empty_info() : state_->info();
}

MemoryType NpuTensor::get_memory_type() const {
  return state_ == nullptr ? MemoryType::UNKNOWN : state_->type();
}

void NpuTensor::sync_buffer() const {
  if (state_ == nullptr) throw std::runtime_error("an empty tensor cannot be synced");
  state_->sync();
}

int NpuTensor::export_buffer() const {
  return state_ == nullptr ? -1 : state_->export_fd();
}

void NpuTensor::print_info() const {
  get_info().print();
  std::cout << fmt::format("memory_type         : {}\n", to_string(get_memory_type()));
}

}  // namespace vart
