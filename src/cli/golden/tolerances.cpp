#include "cli/golden/tolerances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace millrace::cli {

double Tolerances::allowed(double step, double theirs) const {
  if (!judge_elements()) return std::numeric_limits<double>::max();
  return std::max(steps.value_or(0) * step,
                  absolute.value_or(0) + relative.value_or(0) * std::abs(theirs));
}

std::string describe(const Tolerances& tolerances) {
  std::string text;
  const bool has_error = tolerances.relative || tolerances.absolute;
  if (tolerances.steps || (tolerances.judge_elements() && !has_error))
    text = fmt::format("{:.6g} steps", tolerances.steps.value_or(0));
  if (has_error)
    text += fmt::format("{}an error of {:.6g} + {:.6g} of the value", text.empty() ? "" : " or ",
                        tolerances.absolute.value_or(0), tolerances.relative.value_or(0));
  if (tolerances.cosine)
    text += fmt::format("{}a cosine of {:.6g}", text.empty() ? "" : ", and ", *tolerances.cosine);
  return text;
}

}  // namespace millrace::cli
