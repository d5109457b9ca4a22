// Calling oneDNN: its failures, and running its primitives.
//
// oneDNN reports failure by exceptions while primitives are made; everything that makes one runs
// inside guarded(). Running a primitive throws nothing.
#pragma once

#include <new>
#include <span>
#include <string>
#include <type_traits>

#include "base/status.h"
#include "device/cpu/dnnl/desc.h"
#include "device/cpu/reserve/reserve.h"

namespace millrace::device::cpu {

// Translates a failure of oneDNN into the status that our callers get.
Status to_status(const dnnl::error& error);
Status out_of_memory();
// The failure of a primitive whose threads tried to wait for each other (openmp/openmp.h).
Status refused_barrier();

// Calls `make`, which returns a Status or a Result and makes primitives or memory, unless the
// reserve could not save oneDNN from a failed allocation. Turns what it throws into a Status.
template <class F>
std::invoke_result_t<F> guarded(F&& make) noexcept {
  if (reserve::bytes_free() < reserve::kForMaking) return out_of_memory();
  try {
    return make();
  } catch (const dnnl::error& error) {
    return to_status(error);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// For dnnl_set_max_cpu_isa(): all instructions that the processor has.
#if DNNL_VERSION_MAJOR == 2
inline constexpr dnnl_cpu_isa_t kEveryInstruction = dnnl_cpu_isa_all;
#else
inline constexpr dnnl_cpu_isa_t kEveryInstruction = dnnl_cpu_isa_default;
#endif

// "oneDNN 2.6.3"
std::string library_version();

// Runs a primitive; nothing is allocated by this call itself.
Status execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
               std::span<const dnnl_exec_arg_t> arguments) noexcept;
void set_handle(const dnnl::memory& memory, void* handle) noexcept;

}  // namespace millrace::device::cpu
