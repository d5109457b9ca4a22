// CarefulStep runs a primitive that loses NaNs, and a slower step in its place if there are any.
//
// oneDNN keeps results between bounds (ReLU, Clip) and takes the maximum of a window with
// instructions that return the number where one operand is NaN, so ReLU(NaN) is 0. The same
// instructions raise the processor's flag for invalid operations then, at no cost. A CarefulStep
// runs the primitive and, if that has raised the flag, a slower step with the same result, except
// that it keeps NaNs. The flag is also raised where a NaN arises, as in inf - inf; this only
// costs time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/bounds.h"

namespace millrace::device::cpu::kernels {

// Adds such a step for the node that is being lowered. `overwrites`: `fast` writes over its own
// operand, so `careful` would come too late, and the whole frame is run again with careful steps.
// This is not possible in programs with collectives: the other ranks would not run it again.
void add_careful_step(Builder& builder, std::string operation, std::string implementation,
                      std::unique_ptr<const Step> fast, std::unique_ptr<const Step> careful,
                      bool overwrites = false);

// Adds the scratch memory that a primitive needs to its arguments. Both primitives of a pair never
// run at the same time, so the memory of `other` is shared where its size is the same.
void add_scratch(Builder& builder, const Desc& scratch, const Step* other,
                 std::vector<Argument>& arguments);

// Makes the step of a primitive, with its scratch memory.
template <class Primitive>
std::unique_ptr<const Step> primitive_step(Builder& builder,
                                           const typename Primitive::primitive_desc& desc,
                                           std::vector<Argument> arguments,
                                           const Step* other = nullptr) {
  add_scratch(builder, desc.scratchpad_desc(), other, arguments);
  return std::make_unique<PrimitiveStep>(Primitive(desc), std::move(arguments));
}

// Keeps elements of `to` between the bounds after `first` has run. Requirement: keeps_padding().
std::unique_ptr<const Step> bounded_step(const Builder& builder, std::unique_ptr<const Step> first,
                                         const Operand& to, const Bounds& bounds);

// Returns whether a loop over all memory of the tensor leaves zeros in its padding, if it has any.
bool keeps_padding(const Desc& desc, const Bounds& bounds);

}  // namespace millrace::device::cpu::kernels
