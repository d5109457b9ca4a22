// The headers that most sources of src/device/cpu include, compiled once (see
// MillracePrecompiled.cmake): with the builder, they take longer than the sources themselves.
#pragma once

#include "device/cpu/kernels/kernels.h"
#include "standard.h"
