// The name of xrt/experimental/xrt_elf.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_ELF_H
#define EXPERIMENTAL_XRT_ELF_H

#include "xrt/experimental/xrt_elf.h"

#endif  // EXPERIMENTAL_XRT_ELF_H
