// The former name of xrt/xrt_hw_context.h.
#ifndef EXPERIMENTAL_XRT_HW_CONTEXT_H
#define EXPERIMENTAL_XRT_HW_CONTEXT_H

#include "xrt/xrt_hw_context.h"

#endif  // EXPERIMENTAL_XRT_HW_CONTEXT_H
