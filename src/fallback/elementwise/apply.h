// A loop over the elements of one floating-point operand.
#pragma once

#include <utility>

#include "fallback/element.h"

namespace millrace::fallback {

// Computes y[i] = f(x[i]) for floating-point elements. The result has the dimensions of the
// operand.
template <class Function>
Status apply_to_reals(const Call& call, Function&& f) {
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = f(x[i]);
    return {};
  });
}

}  // namespace millrace::fallback
