// Programs of the array of AI Engines, which is not emulated: see xrt/xrt_aie.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_AIE_H
#define XRT_EXPERIMENTAL_XRT_AIE_H

#include <cstdint>
#include <utility>

#include "xrt/experimental/xrt_elf.h"
#include "xrt/xrt_aie.h"

#pragma GCC visibility push(default)

namespace xrt::aie {

// An ELF file of the array. No constructor of elf but the default one succeeds.
class program : public elf {
 public:
  using size_type = uint32_t;

  template <class T>
  explicit program(T&& content) : elf(std::forward<T>(content)) {}

  size_type get_partition_size() const { detail::not_emulated("xrt::aie::program"); }
};

}  // namespace xrt::aie

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_AIE_H
