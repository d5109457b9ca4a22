// Defects of single versions of oneDNN.
#pragma once

#include <oneapi/dnnl/dnnl_version.h>

namespace millrace::device::cpu {

// Whether a GRU of one unit, other than with the reset applied late, takes each sequence's own
// initial state. With 3.7.2 the results of all but the first are wrong.
inline constexpr bool kGruOfOneUnitTakesStates = DNNL_VERSION_MAJOR == 2;

// Whether the first factor of a product may be one row whose elements lie apart. 3.7.2 reads
// others.
inline constexpr bool kProductsTakeSpreadRows = DNNL_VERSION_MAJOR == 2;

// Whether reorders give all elements. That of 3.7.2 does not
// - to a layout with padding, which it fills as if it were one stretch of memory;
// - between equal layouts with gaps, which it copies as if there were none.
inline constexpr bool kReordersEveryLayout = DNNL_VERSION_MAJOR == 2;

// Whether every convolution can be described. With 3.7.2 five pointwise ones (of ResNet-50, for
// one), in layouts other than blocks, end the process: its estimate of them divides by zero.
inline constexpr bool kDescribesEveryConvolution = DNNL_VERSION_MAJOR == 2;

// Whether sums of products of bytes are multiplied once. 3.x multiplies by two factors, one after
// the other, so a result may be the next step.
inline constexpr bool kScalesSumsOnce = DNNL_VERSION_MAJOR == 2;

// Whether a softmax gives the same bits in every layout.
inline constexpr bool kSoftmaxIgnoresLayout = DNNL_VERSION_MAJOR == 2;

// Whether Gelu (by the error function) of infinity and of the largest numbers is right. 3.7.2 gives
// NaN and infinity.
inline constexpr bool kGeluHasItsLimits = DNNL_VERSION_MAJOR == 2;

}  // namespace millrace::device::cpu
