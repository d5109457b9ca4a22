// How long steps take on the calling thread and those that help it: the least of several runs, each
// with its operands in the caches as far as they fit. Other work on the machine makes times longer,
// never shorter.
//
// May throw what guarded() catches.
#pragma once

#include <cstdint>

#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/plan/crew.h"

namespace millrace::device::cpu::plan {

uint64_t time_convolution(const kernels::Convolution& convolution,
                          const dnnl::convolution_forward::primitive_desc& primitive,
                          const dnnl::engine& engine, const dnnl::stream& stream, Crew& crew);

// By the device's own step. Requirement: winograd::can_compute().
uint64_t time_winograd(const kernels::Convolution& convolution, const dnnl::engine& engine,
                       const dnnl::stream& stream, Crew& crew);

// The same of a depthwise one. Requirement: depthwise::can_compute().
uint64_t time_depthwise(const kernels::Convolution& convolution, const dnnl::engine& engine,
                        const dnnl::stream& stream, Crew& crew);

// The same for the step of both. Requirement: separable::partner_of() has found them.
uint64_t time_separable(const kernels::Convolution& pointwise,
                        const kernels::Convolution& depthwise, const dnnl::engine& engine,
                        const dnnl::stream& stream, Crew& crew);

uint64_t time_reorder(const Desc& from, const Desc& to, const dnnl::engine& engine,
                      const dnnl::stream& stream);

}  // namespace millrace::device::cpu::plan
