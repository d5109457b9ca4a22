// Every declaration of vart_npu_tensor.hpp.
#include <vart/vart_npu_tensor.hpp>

#include "declared.h"

namespace vart {

static_assert(counts_from_zero({DataType::UNKNOWN, DataType::BOOLEAN, DataType::INT8,
                                DataType::UINT8, DataType::INT16, DataType::UINT16, DataType::BF16,
                                DataType::FP16, DataType::INT32, DataType::UINT32,
                                DataType::FLOAT32, DataType::INT64, DataType::UINT64}));
static_assert(
    counts_from_zero({MemoryLayout::UNKNOWN,   MemoryLayout::NC,        MemoryLayout::NCH,
                      MemoryLayout::NHC,       MemoryLayout::NHW,       MemoryLayout::NWC,
                      MemoryLayout::NHWC,      MemoryLayout::NCHW,      MemoryLayout::NHWC4,
                      MemoryLayout::NHWC8,     MemoryLayout::NC4HW4,    MemoryLayout::NC8HW8,
                      MemoryLayout::HCWNC4,    MemoryLayout::HCWNC8,    MemoryLayout::HCWNC16,
                      MemoryLayout::NHW16C4WC, MemoryLayout::NHW16WC4C, MemoryLayout::NH2HWC4C,
                      MemoryLayout::NH2C4HWC,  MemoryLayout::GENERIC}));
static_assert(counts_from_zero({MemoryType::UNKNOWN, MemoryType::XRT_BO, MemoryType::DMA_FD,
                                MemoryType::USER_POINTER_CMA, MemoryType::USER_POINTER_NON_CMA}));
static_assert(counts_from_zero({TensorDirection::INPUT, TensorDirection::OUTPUT}));
static_assert(counts_from_zero({TensorType::CPU, TensorType::HW}));

static_assert(same<decltype(NpuTensorInfo::name), std::string>);
static_assert(same<decltype(NpuTensorInfo::data_type), DataType>);
static_assert(same<decltype(NpuTensorInfo::direction), TensorDirection>);
static_assert(same<decltype(NpuTensorInfo::tensor_type), TensorType>);
static_assert(same<decltype(NpuTensorInfo::memory_layout), MemoryLayout>);
static_assert(same<decltype(NpuTensorInfo::memory_layout_order), std::vector<uint32_t>>);
static_assert(same<decltype(NpuTensorInfo::size), size_t>);
static_assert(same<decltype(NpuTensorInfo::size_in_bytes), size_t>);
static_assert(same<decltype(NpuTensorInfo::shape), std::vector<uint32_t>>);
static_assert(same<decltype(NpuTensorInfo::strides), std::vector<uint32_t>>);
static_assert(ascending({offsetof(NpuTensorInfo, name), offsetof(NpuTensorInfo, data_type),
                         offsetof(NpuTensorInfo, direction), offsetof(NpuTensorInfo, tensor_type),
                         offsetof(NpuTensorInfo, memory_layout),
                         offsetof(NpuTensorInfo, memory_layout_order),
                         offsetof(NpuTensorInfo, size), offsetof(NpuTensorInfo, size_in_bytes),
                         offsetof(NpuTensorInfo, shape), offsetof(NpuTensorInfo, strides)}));
static_assert(same<decltype(&NpuTensorInfo::print), void (NpuTensorInfo::*)() const>);
static_assert(std::is_aggregate_v<NpuTensorInfo>);

static_assert(std::is_default_constructible_v<NpuTensor>);
static_assert(std::is_constructible_v<NpuTensor, const NpuTensorInfo&, void*, MemoryType>);
static_assert(std::is_constructible_v<NpuTensor, const NpuTensorInfo&, const void*, MemoryType>);
static_assert(std::is_copy_constructible_v<NpuTensor> && std::is_copy_assignable_v<NpuTensor>);
static_assert(std::is_nothrow_move_constructible_v<NpuTensor> &&
              std::is_nothrow_move_assignable_v<NpuTensor>);
static_assert(has<void* (NpuTensor::*)()>(&NpuTensor::get_buffer));
static_assert(has<const void* (NpuTensor::*)() const>(&NpuTensor::get_buffer));
static_assert(has<void* (NpuTensor::*)()>(&NpuTensor::get_virtual_address));
static_assert(has<const void* (NpuTensor::*)() const>(&NpuTensor::get_virtual_address));
static_assert(same<decltype(&NpuTensor::get_physical_address), uint64_t (NpuTensor::*)() const>);
static_assert(same<decltype(&NpuTensor::get_info), const NpuTensorInfo& (NpuTensor::*)() const>);
static_assert(same<decltype(&NpuTensor::get_memory_type), MemoryType (NpuTensor::*)() const>);
static_assert(same<decltype(&NpuTensor::sync_buffer), void (NpuTensor::*)() const>);
static_assert(same<decltype(&NpuTensor::export_buffer), int (NpuTensor::*)() const>);
static_assert(same<decltype(&NpuTensor::print_info), void (NpuTensor::*)() const>);

}  // namespace vart
