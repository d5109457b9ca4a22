// VART-X kernels in programmable logic: what there is to say of them.
//
// Sources: the published VART-X documentation and sample programs of the release after 6.2. Defines
// no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_PLKERNEL_TYPES_HPP
#define VART_VART_PLKERNEL_TYPES_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace vart {

enum class PLKernelImplType { PL_KERNEL_XRT };

// One argument of a kernel.
struct ArgumentInfo {
  std::string arg_name;
  std::string arg_type;       // "non scalar" for a buffer, "scalar" for a value
  std::string arg_data_type;  // as in the kernel's source, for instance "unsigned int*"
  uint32_t arg_index = 0;     // position among the arguments of process
  size_t arg_size = 0;        // bytes that are passed for a buffer: 8; 0 for a scalar
  int32_t mem_index = -1;     // the memory bank of a buffer; -1 for a scalar
};

}  // namespace vart

#endif  // VART_VART_PLKERNEL_TYPES_HPP
