// Tolerances: how far two results may differ and still count as equal. Plain data.
#pragma once

#include <optional>
#include <string>

namespace millrace::cli {

// An element is within the tolerances if its difference is at most `steps` steps
// (golden_compare.h), or at most `absolute` + `relative` * |theirs|, as NumPy's allclose() has it.
// Tolerances that are not given are 0. An element that is NaN or infinite on one side only is never
// within them.
struct Tolerances {
  std::optional<double> steps, relative, absolute;
  // The least cosine of a whole tensor. If it is given alone, elements may differ as they like.
  std::optional<double> cosine;

  bool judge_elements() const { return steps || relative || absolute || !cosine; }
  // Returns the greatest difference that an element may have from `theirs`.
  double allowed(double step, double theirs) const;
};

// Returns the tolerances for a sentence: "2 steps", "an error of 1e-05 + 0.01 of the value", "a
// cosine of 0.99", or several of these.
std::string describe(const Tolerances& tolerances);

}  // namespace millrace::cli
