#include "device/cpu/dnnl/instruction_limit.h"

#include <oneapi/dnnl/dnnl.h>

#include "base/files/trusted_file.h"
#include "base/log.h"
#include "base/max_isa.h"
#include "base/never_destroyed.h"
#include "device/cpu/dnnl/calls.h"

namespace millrace::device::cpu {
namespace {

dnnl_cpu_isa_t library_name(MaxIsa isa) {
  switch (isa) {
    case MaxIsa::kAvx2:
      return dnnl_cpu_isa_avx2;
    case MaxIsa::kAvx512:
      return dnnl_cpu_isa_avx512_core;
    case MaxIsa::kAvx512Vnni:
      return dnnl_cpu_isa_avx512_core_vnni;
    case MaxIsa::kAvx512Bf16:
      return dnnl_cpu_isa_avx512_core_bf16;
    case MaxIsa::kAmx:
      break;
  }
  return kEveryInstruction;
}

Status limit() {
  MILLRACE_ASSIGN_OR_RETURN(const MaxIsa isa, max_isa());
  if (isa == MaxIsa::kAmx) return {};
  const dnnl_status_t limited = dnnl_set_max_cpu_isa(library_name(isa));
  if (limited == dnnl_success) return {};
  log(LogLevel::kWarning, "cpu",
      limited == dnnl_invalid_arguments
          ? "MILLRACE_MAX_ISA does not limit oneDNN, which this program has used before"
          : "MILLRACE_MAX_ISA does not limit oneDNN, which was built without that");
  return {};
}

// oneDNN reads variables by which it writes generated code and profiles into the current folder and
// /tmp. What is set by its functions takes precedence.
void keep_files_unwritten() {
  if (!has_raised_rights()) return;
  dnnl_set_jit_dump(0);
  dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE);
}

}  // namespace

Status limit_instructions() {
  static NeverDestroyed<Status> limited([] {
    keep_files_unwritten();
    return limit();
  }());
  return limited.get();
}

}  // namespace millrace::device::cpu
