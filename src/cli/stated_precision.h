// For commands that say how exact a model is: it computes in the precision that it states.
#pragma once

namespace millrace::cli {

// While it exists, BF16 models that are loaded compute in BF16 where the processor can at all, also
// where FP32 is faster, which programs use otherwise; but not where MILLRACE_NO_BF16 is set. It
// changes the environment: for a process of one thread.
class StatedPrecision {
 public:
  StatedPrecision();
  ~StatedPrecision();
  StatedPrecision(const StatedPrecision&) = delete;
  StatedPrecision& operator=(const StatedPrecision&) = delete;

 private:
  const bool was_set_;
};

}  // namespace millrace::cli
