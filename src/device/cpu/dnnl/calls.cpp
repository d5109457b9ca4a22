#include "device/cpu/dnnl/calls.h"

#include <fmt/format.h>

#include "device/cpu/dnnl/openmp/openmp.h"

// The linker makes every call of dnnl_primitive_create() one of the second function, and one of the
// first function that of oneDNN (--wrap in CMakeLists.txt). The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" dnnl_status_t __real_dnnl_primitive_create(dnnl_primitive_t* primitive,
                                                      const_dnnl_primitive_desc_t description);
extern "C" dnnl_status_t __wrap_dnnl_primitive_create(dnnl_primitive_t* primitive,
                                                      const_dnnl_primitive_desc_t description) {
  const millrace::device::cpu::reserve::MakingPrimitive scope;
  return __real_dnnl_primitive_create(primitive, description);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace millrace::device::cpu {

Status to_status(const dnnl::error& error) {
  switch (error.status) {
    case dnnl_out_of_memory:
      return out_of_memory();
    case dnnl_unimplemented:
      return unsupported(fmt::format("oneDNN: {}", error.what()));
    default:
      return internal_error(fmt::format("oneDNN: {}", error.what()));
  }
}

Status out_of_memory() {
  return {StatusCode::kOutOfMemory, "not enough memory for the model on the CPU device"};
}

Status refused_barrier() {
  return internal_error("oneDNN: the threads of a primitive wait for each other");
}

std::string library_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version.major, version.minor, version.patch);
}

Status execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
               std::span<const dnnl_exec_arg_t> arguments) noexcept {
  if (reserve::bytes_free() < reserve::kForRunning) return out_of_memory();
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive.get(true), stream.get(true), static_cast<int>(arguments.size()), arguments.data());
  if (take_refused_barrier()) [[unlikely]]
    return refused_barrier();
  if (status == dnnl_success) return {};
  if (status == dnnl_out_of_memory) return out_of_memory();
  return internal_error(
      fmt::format("oneDNN: a primitive failed with status {}", static_cast<int>(status)));
}

void set_handle(const dnnl::memory& memory, void* handle) noexcept {
  dnnl_memory_set_data_handle(memory.get(true), handle);
}

}  // namespace millrace::device::cpu
