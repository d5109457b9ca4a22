// The name of xrt/experimental/xrt_pscontext.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_PSCONTEXT_H
#define EXPERIMENTAL_XRT_PSCONTEXT_H

#include "xrt/experimental/xrt_pscontext.h"

#endif  // EXPERIMENTAL_XRT_PSCONTEXT_H
