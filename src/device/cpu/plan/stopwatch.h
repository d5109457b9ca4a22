// How long steps take on the calling thread: the least of several runs, each with its operands
// in the caches as far as they fit. Other work on the machine makes times longer, never shorter.
//
// May throw what guarded() catches.
#pragma once

#include <cstdint>

#include "device/cpu/kernels/convolution_primitive.h"

namespace millrace::device::cpu::plan {

uint64_t time_convolution(const kernels::Convolution& convolution,
                          const dnnl::convolution_forward::primitive_desc& primitive,
                          const dnnl::engine& engine, const dnnl::stream& stream);

// By the device's own step. Requirement: winograd::can_compute().
uint64_t time_winograd(const kernels::Convolution& convolution, const dnnl::engine& engine);

uint64_t time_reorder(const Desc& from, const Desc& to, const dnnl::engine& engine,
                      const dnnl::stream& stream);

}  // namespace millrace::device::cpu::plan
