// The types by which the CPU device describes tensors to oneDNN. This folder is the only code that
// knows what differs between oneDNN 2.6 and 3.x, and the only one that asks for the version.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "graph/operators.h"

namespace millrace::device::cpu {

using graph::Dims;
using ElementType = dnnl::memory::data_type;

#if DNNL_VERSION_MAJOR == 2
using Desc = dnnl::memory::desc;
#else
// The descriptor of 3.x, with the member names of 2.6.
class Desc : public dnnl::memory::desc {
 public:
  using dnnl::memory::desc::desc;
  Desc() = default;
  Desc(const dnnl::memory::desc& desc) : dnnl::memory::desc(desc) {}  // NOLINT(*-explicit-*)
  Dims dims() const { return get_dims(); }
  ElementType data_type() const { return get_data_type(); }
};
#endif

}  // namespace millrace::device::cpu
