// The former name of xrt/xrt_bo.h.
#ifndef EXPERIMENTAL_XRT_BO_H
#define EXPERIMENTAL_XRT_BO_H

#include "xrt/xrt_bo.h"

#endif  // EXPERIMENTAL_XRT_BO_H
