// Defects of single versions of oneDNN.
#pragma once

#include <oneapi/dnnl/dnnl_version.h>

namespace millrace::device::cpu {

// Whether a GRU of one unit, other than with the reset applied late, keeps the states of sequences
// apart. With 3.7.2 the results of all but the first are wrong.
inline constexpr bool kGruOfOneUnitKeepsStates = DNNL_VERSION_MAJOR == 2;

// Whether a product of matrices is right in every layout. That of 3.7.2 is not, or ends the
// process,
// - if the distances between matrices are not equal; it takes the innermost one for all of them,
//   even if that belongs to a dimension of size 1, where it has no meaning;
// - if the first factor has several matrices of one row, the second is broadcast and has a zero
//   point, or the first factor has one row whose elements lie apart;
// - if some leading dimensions of a factor are broadcast and its rows lie among those of another
//   matrix.
inline constexpr bool kProductsTakeEveryLayout = DNNL_VERSION_MAJOR == 2;

// Whether reorders give all elements. That of 3.7.2 does not
// - to a layout with padding, which it fills as if it were one stretch of memory;
// - between equal layouts with gaps, which it copies as if there were none.
inline constexpr bool kReordersEveryLayout = DNNL_VERSION_MAJOR == 2;

// Whether every convolution can be described. With 3.7.2 five pointwise ones (of ResNet-50, for
// one), in layouts other than blocks, end the process: its estimate of them divides by zero.
inline constexpr bool kDescribesEveryConvolution = DNNL_VERSION_MAJOR == 2;

// Whether convolutions by brgemm are right where one channel becomes a single column. With 3.7.2
// they are not if the columns are strided and the rows are not.
inline constexpr bool kBrgemmComputesSingleColumns = DNNL_VERSION_MAJOR == 2;

// Whether the strides of dimensions of size 1 have no meaning, as they should. From the stride of
// its axis, the softmax of 3.7.2 derives how many elements a step along the axis passes.
inline constexpr bool kIgnoresStridesWithoutMeaning = DNNL_VERSION_MAJOR == 2;

// Whether resampling recognises the layout of an image whose dimensions of size 1 make several
// names fit. 3.7.2 takes the image in one layout and gives the result in another.
inline constexpr bool kResamplingRecognisesLayouts = DNNL_VERSION_MAJOR == 2;

// Whether sums of products of bytes are multiplied once. 3.x multiplies by two factors, one after
// the other, so a result may be the next step.
inline constexpr bool kScalesSumsOnce = DNNL_VERSION_MAJOR == 2;

// Whether a softmax gives the same bits in every layout.
inline constexpr bool kSoftmaxIgnoresLayout = DNNL_VERSION_MAJOR == 2;

// Whether Gelu (by the error function) of infinity and of the largest numbers is right. 3.7.2 gives
// NaN and infinity.
inline constexpr bool kGeluHasItsLimits = DNNL_VERSION_MAJOR == 2;

// Whether LeakyRelu, Sigmoid, Swish and HardSwish of NaN and infinities are right. For other
// processors than x86, 2.6 makes numbers of NaN, and its Swish and HardSwish of -inf differ; 3.x
// was not tried there.
#if defined(__x86_64__)
inline constexpr bool kFunctionsKeepSpecialValues = true;
#else
inline constexpr bool kFunctionsKeepSpecialValues = false;
#endif

}  // namespace millrace::device::cpu
