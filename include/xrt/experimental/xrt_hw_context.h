// The former name of xrt/xrt_hw_context.h.
#ifndef XRT_EXPERIMENTAL_XRT_HW_CONTEXT_H
#define XRT_EXPERIMENTAL_XRT_HW_CONTEXT_H

#include "xrt/xrt_hw_context.h"

#endif  // XRT_EXPERIMENTAL_XRT_HW_CONTEXT_H
