// Configures the tiles of a thread for the loops that it is about to run. The loops release the
// tiles.
//
// Include between foreach_target.h and the code of a target, with highway.h before.

// Highway 1.0.3 has no target with AMX, so such loops are compiled for that with AVX-512, and
// further instructions. This file is for one target only.
#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_CPU_TILES_INL_H_)
#define MILLRACE_CPU_TILES_INL_H_

#include <immintrin.h>

#include "device/cpu/kernels/tiles.h"

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",amx-tile")
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {

HWY_INLINE void configure_tiles(const TileConfiguration& configuration) {
  // The instruction reads all of it, of which g++ is told about the first bytes only.
  __asm__ volatile("" : : "r"(&configuration) : "memory");
  _tile_loadconfig(&configuration);
}

}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif
