// Primitives that lose NaNs, and what runs in place of them where there are any.
//
// oneDNN keeps results between bounds (ReLU, Clip) and takes the largest element under a window by
// instructions that give the number where one operand is NaN, so ReLU(NaN) is 0. The same
// instructions raise the processor's flag for invalid operations then, at no cost. A CarefulStep
// runs the primitive, and where that has raised the flag, a slower step with the same result for
// all but NaNs, which it keeps. The flag is also raised where a NaN arises, as in inf - inf; that
// costs time only.
#pragma once

#include <memory>
#include <string>

#include "device/cpu/builder.h"
#include "device/cpu/kernels/bounds.h"

namespace millrace::device::cpu::kernels {

// Adds such a step for the node that is being lowered. `overwrites`: `fast` writes over an operand
// of its own; `careful` comes too late then, and the whole frame is run again with careful steps.
// Not for programs with collectives, whose other ranks would not run it again.
void add_careful_step(Builder& builder, std::string operation, std::string implementation,
                      std::unique_ptr<const Step> fast, std::unique_ptr<const Step> careful,
                      bool overwrites = false);

// Keeps what lies in `to` between the bounds once `first` has run. Requirement: keeps_padding().
std::unique_ptr<const Step> bounded_step(const Builder& builder, std::unique_ptr<const Step> first,
                                         const Operand& to, const Bounds& bounds);

// Whether a loop over all memory of the tensor leaves zeros in its padding, if it has any.
bool keeps_padding(const Desc& desc, const Bounds& bounds);

}  // namespace millrace::device::cpu::kernels
