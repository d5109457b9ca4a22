#include "cli/replay/output_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "cli/inputs/frames.h"

namespace millrace::cli {
namespace {

double apart(float a, float b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::abs(double{a} - double{b});
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

}  // namespace

Result<std::optional<OutputDifference>> compare_output(
    const graph::Boundary& boundary, View view, std::span<const std::byte> ours,
    std::span<const std::byte> recorded, const std::optional<Tolerances>& tolerances) {
  if (std::ranges::equal(ours, recorded)) return std::optional<OutputDifference>();
  const size_t element_bytes = tensor::size_of(boundary.cpu.type);
  if (ours.size() != recorded.size())  // an output with open dimensions
    return std::optional(OutputDifference{.tensor = boundary.cpu.name,
                                          .elements = recorded.size() / element_bytes,
                                          .different = recorded.size() / element_bytes,
                                          .greatest = std::numeric_limits<double>::infinity()});
  MILLRACE_ASSIGN_OR_RETURN(const auto our_values, values_of(boundary, view, ours.data()));
  MILLRACE_ASSIGN_OR_RETURN(const auto their_values, values_of(boundary, view, recorded.data()));
  OutputDifference difference{.tensor = boundary.cpu.name, .elements = our_values.size()};
  // Elements of the CPU view lie as the values do, so their bits can be compared, too: floats do
  // not show small differences of wide integers.
  const bool by_bits = !tolerances && view == View::kCpu;
  for (size_t i = 0; i < our_values.size(); ++i) {
    const double distance = apart(our_values[i], their_values[i]);
    difference.greatest = std::max(difference.greatest, distance);
    const size_t at = i * element_bytes;
    const bool differs =
        by_bits ? std::memcmp(&ours[at], &recorded[at], element_bytes) != 0
                : !std::isfinite(distance) ||
                      distance > (tolerances ? tolerances->allowed(0, their_values[i]) : 0);
    difference.different += differs ? 1 : 0;
  }
  if (difference.different == 0) return std::optional<OutputDifference>();
  return std::optional(std::move(difference));
}

}  // namespace millrace::cli
