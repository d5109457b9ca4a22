// The name of xrt/experimental/xrt_ini.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_INI_H
#define EXPERIMENTAL_XRT_INI_H

#include "xrt/experimental/xrt_ini.h"

#endif  // EXPERIMENTAL_XRT_INI_H
