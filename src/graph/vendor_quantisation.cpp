#include "graph/vendor_quantisation.h"

#include <algorithm>
#include <cmath>

#include "tensor/element.h"

namespace millrace::graph {
namespace {

using tensor::DataType;

struct Limits {
  int least, greatest;
};

// Requirement: INT8 or UINT8.
Limits limits_of(DataType type) {
  return type == DataType::kInt8 ? Limits{-128, 127} : Limits{0, 255};
}

// Dequantises an integer.
double number(const BoundaryQuantisation& form, int integer) {
  return (integer - form.parameters.zero_point) * form.parameters.scale;
}

BoundaryQuantisation with_exponent(int exponent) {
  return {DataType::kInt8, {std::ldexp(1.0, exponent), 0, tensor::Rounding::kNearestEven}};
}

// Returns the least exponent with which INT8 covers all real values of `own`.
int covering_exponent(const BoundaryQuantisation& own) {
  const auto [least, greatest] = limits_of(own.type);
  const double low = number(own, least), high = number(own, greatest);
  int exponent = kLeastVendorExponent;
  while (exponent < kGreatestVendorExponent &&
         (std::ldexp(127.0, exponent) < high || std::ldexp(-128.0, exponent) > low))
    ++exponent;
  return exponent;
}

}  // namespace

bool is_vendor_form(const BoundaryQuantisation& form) noexcept {
  const tensor::QuantParams& parameters = form.parameters;
  int exponent = 0;
  // std::frexp returns a fraction from 0.5 to less than 1, so a power of two 2^e is 0.5 * 2^(e +
  // 1).
  const bool is_power = std::frexp(parameters.scale, &exponent) == 0.5;
  return form.type == DataType::kInt8 && parameters.zero_point == 0 && is_power &&
         parameters.rounding == tensor::Rounding::kNearestEven &&
         exponent - 1 >= kLeastVendorExponent && exponent - 1 <= kGreatestVendorExponent;
}

BoundaryQuantisation vendor_form(const BoundaryQuantisation& own) noexcept {
  if (is_vendor_form(own)) return own;
  const int exponent = covering_exponent(own);
  const BoundaryQuantisation covering = with_exponent(exponent);
  if (exponent == kLeastVendorExponent) return covering;
  const BoundaryQuantisation finer = with_exponent(exponent - 1);
  const bool saturating_costs_less = requantisation_error(own, finer).root_mean_square <
                                     requantisation_error(own, covering).root_mean_square;
  return saturating_costs_less ? finer : covering;
}

double nearest_number(const BoundaryQuantisation& form, double value) noexcept {
  const auto [least, greatest] = limits_of(form.type);
  const double integer =
      tensor::round_to_even(value / form.parameters.scale) + form.parameters.zero_point;
  return number(form, static_cast<int>(std::clamp<double>(integer, least, greatest)));
}

RequantisationError requantisation_error(const BoundaryQuantisation& own,
                                         const BoundaryQuantisation& view) noexcept {
  const auto [least, greatest] = limits_of(own.type);
  RequantisationError error;
  double squares = 0;
  for (int integer = least; integer <= greatest; ++integer) {
    const double exact = number(own, integer);
    const double distance = std::fabs(nearest_number(view, exact) - exact) / own.parameters.scale;
    error.largest = std::max(error.largest, distance);
    squares += distance * distance;
  }
  error.root_mean_square = std::sqrt(squares / (greatest - least + 1));
  return error;
}

}  // namespace millrace::graph
