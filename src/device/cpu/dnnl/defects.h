// Defects of single versions of oneDNN.
#pragma once

#include <oneapi/dnnl/dnnl_version.h>

namespace millrace::device::cpu {

// Whether a GRU of one unit, other than with the reset applied late, takes each sequence's own
// initial state. With 3.7.2 the results of all but the first are wrong.
inline constexpr bool kGruOfOneUnitTakesStates = DNNL_VERSION_MAJOR == 2;

}  // namespace millrace::device::cpu
