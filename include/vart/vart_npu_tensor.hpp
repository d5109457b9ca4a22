// VART-ML tensors: descriptions of a model's inputs and outputs, and memory bound to them.
//
// Units: `size` and `strides` count elements, `size_in_bytes` counts bytes, all of one frame; a
// model with batch size N takes N separate tensors of one description. The shape has a leading or
// inner 1 where the layout has an N.
//
// Sources: the published VART-ML documentation and sample programs, release 6.2 and the one after
// it; this header is a superset of both. It defines no macro and no name outside namespace vart.
// C++17 and later.
#ifndef VART_VART_NPU_TENSOR_HPP
#define VART_VART_NPU_TENSOR_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "vart/vart_standard_headers.hpp"

namespace vart {
class TensorState;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// Element types; programs print the numbers. A BOOLEAN takes one byte.
enum class DataType {
  UNKNOWN = 0,
  BOOLEAN,
  INT8,
  UINT8,
  INT16,
  UINT16,
  BF16,
  FP16,
  INT32,
  UINT32,
  FLOAT32,
  INT64,
  UINT64
};

// Layout of elements in memory. The plain layouts are dense in the order of their letters. HCWNC{B}
// holds channels in blocks of B, shape [H, ceil(C / B), W, N, B], with zero in the lanes past the
// last channel. GENERIC comes with an order (see NpuTensorInfo). The rest is declared because the
// API has it; no tensor of this implementation uses it.
enum class MemoryLayout {
  UNKNOWN = 0,
  NC,
  NCH,
  NHC,
  NHW,
  NWC,
  NHWC,
  NCHW,
  NHWC4,
  NHWC8,
  NC4HW4,
  NC8HW8,
  HCWNC4,
  HCWNC8,
  HCWNC16,
  NHW16C4WC,
  NHW16WC4C,
  NH2HWC4C,
  NH2C4HWC,
  GENERIC
};

// The meaning of the pointer that is given to, or got from, an NpuTensor:
//   XRT_BO                a buffer object, as allocate_npu_tensor makes them: `xrt::bo*`
//   DMA_FD                a file descriptor of shareable memory: `int*`
//   USER_POINTER_CMA      the caller's memory, physically contiguous on a board
//   USER_POINTER_NON_CMA  the caller's memory, any; for CPU tensors only
enum class MemoryType { UNKNOWN = 0, XRT_BO, DMA_FD, USER_POINTER_CMA, USER_POINTER_NON_CMA };

enum class TensorDirection { INPUT = 0, OUTPUT = 1 };

// The two views of one tensor: as the model declares it, or in the device's native form.
enum class TensorType { CPU = 0, HW = 1 };

namespace npu_detail {
std::string_view name_of(DataType value) noexcept;
std::string_view name_of(MemoryLayout value) noexcept;
std::string_view name_of(MemoryType value) noexcept;
std::string_view name_of(TensorDirection value) noexcept;
std::string_view name_of(TensorType value) noexcept;

template <class Enum>
inline constexpr bool names_tensor_enum =
    std::is_same_v<Enum, DataType> || std::is_same_v<Enum, MemoryLayout> ||
    std::is_same_v<Enum, MemoryType> || std::is_same_v<Enum, TensorDirection> ||
    std::is_same_v<Enum, TensorType>;
}  // namespace npu_detail

// The enumerator's name, for example "HCWNC4"; "UNKNOWN" for a value outside the list. A template
// for exactly these types, because programs of release 6.2 define functions of the same name for
// them at global scope: an ordinary overload found through the argument would make their
// unqualified calls ambiguous, a template gives way.
template <class Enum, std::enable_if_t<npu_detail::names_tensor_enum<Enum>, int> = 0>
std::string_view to_string(Enum value) noexcept {
  return npu_detail::name_of(value);
}

// The description of one view of one tensor, for one frame. Plain data.
struct NpuTensorInfo {
  std::string name;  // the same in both views
  DataType data_type = DataType::UNKNOWN;
  TensorDirection direction = TensorDirection::INPUT;
  TensorType tensor_type = TensorType::HW;
  MemoryLayout memory_layout = MemoryLayout::UNKNOWN;
  // GENERIC only: position i of the shape holds dimension order[i] of the CPU view.
  std::vector<uint32_t> memory_layout_order;
  size_t size = 0;           // elements, padding lanes included
  size_t size_in_bytes = 0;  // bytes, padding lanes included
  std::vector<uint32_t> shape;
  std::vector<uint32_t> strides;  // dense C order of `shape`, in elements

  // Writes the fields to standard output.
  void print() const;
};

// Memory bound to a description. A handle: copies share the memory; a moved-from or default-made
// tensor is empty. Copies may be used from different threads; one object must not be assigned while
// another thread uses it.
//
// Ownership: memory given to a constructor stays the caller's and must outlive every copy and every
// job that uses it. Memory from Runner::allocate_npu_tensor, and memory behind a DMA_FD, lives
// until the last copy and the last sub-tensor are gone; it does not need the runner.
class NpuTensor {
 public:
  NpuTensor() noexcept;  // empty

  // Wraps `buffer`, which `mem_type` gives its meaning. For DMA_FD the descriptor is duplicated at
  // once: the int and the descriptor may go away as soon as the constructor has returned.
  //
  // Throws std::runtime_error for a null buffer, MemoryType::UNKNOWN, an incomplete description
  // (name, data_type, memory_layout with its order, size, size_in_bytes, shape, strides),
  // USER_POINTER_NON_CMA for an HW tensor, a descriptor that cannot be mapped over size_in_bytes,
  // and a buffer object that is smaller, or that this library did not make.
  NpuTensor(const NpuTensorInfo& info, void* buffer, MemoryType mem_type);
  // The same for memory that is only read: an input. The non-const accessors give nullptr.
  NpuTensor(const NpuTensorInfo& info, const void* buffer, MemoryType mem_type);

  NpuTensor(const NpuTensor& other) noexcept;
  NpuTensor& operator=(const NpuTensor& other) noexcept;
  NpuTensor(NpuTensor&& other) noexcept;
  NpuTensor& operator=(NpuTensor&& other) noexcept;
  ~NpuTensor();

  // XRT_BO: the buffer object. DMA_FD: an int that holds the tensor's own descriptor. User
  // pointers: as given. nullptr when empty, and from the non-const form when made from const
  // memory.
  void* get_buffer();
  const void* get_buffer() const;

  // Host address of the first byte. nullptr for DMA_FD, when empty, and from the non-const form
  // when made from const memory.
  void* get_virtual_address();
  const void* get_virtual_address() const;

  // Device address of the first byte. XRT_BO only, otherwise 0.
  uint64_t get_physical_address() const;

  // The description; one without a name when empty.
  const NpuTensorInfo& get_info() const;
  MemoryType get_memory_type() const;  // UNKNOWN when empty

  // INPUT: makes host writes visible to the device. OUTPUT: makes device writes visible to the
  // host. For tensors that a runner allocated, and their sub-tensors; throws std::runtime_error for
  // any other. Jobs sync by themselves unless skip_in_bo_sync or skip_out_bo_sync is set, so this
  // is never required by default, and never does harm.
  void sync_buffer() const;

  // A new file descriptor of the memory, the caller's to close, for XRT_BO and DMA_FD tensors; of
  // the parent's memory for a sub-tensor at its beginning. -1 for any other tensor, for any other
  // sub-tensor, and on failure: memory of a runner keeps descriptors for half of RLIMIT_NOFILE at
  // most, and what is allocated beyond cannot be exported; the log says so. Never throws.
  int export_buffer() const;

  // Writes the description and the memory type to standard output.
  void print_info() const;

 private:
  friend class TensorState;
  explicit NpuTensor(std::shared_ptr<const TensorState> state) noexcept;

  std::shared_ptr<const TensorState> state_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_NPU_TENSOR_HPP
