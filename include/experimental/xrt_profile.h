// The name of xrt/experimental/xrt_profile.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_PROFILE_H
#define EXPERIMENTAL_XRT_PROFILE_H

#include "xrt/experimental/xrt_profile.h"

#endif  // EXPERIMENTAL_XRT_PROFILE_H
