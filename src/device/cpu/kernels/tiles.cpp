#include "device/cpu/kernels/tiles.h"

#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif

#include "base/process/topology.h"

namespace millrace::device::cpu::kernels {
namespace {

bool is_permitted() {
#if defined(__x86_64__)
  // The number of that state in the kernel's documentation, "Using XSTATE features in user space
  // applications"; there is no header with it.
  constexpr unsigned long kTileData = 18;
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

bool may_use_tiles() {
  static const bool may = topology().features.amx_bf16 && is_permitted();
  return may;
}

}  // namespace millrace::device::cpu::kernels
