#include "cli/stated_precision.h"

#include <cstdlib>

namespace millrace::cli {
namespace {

constexpr const char* kVariable = "MILLRACE_NO_BF16";

}  // namespace

StatedPrecision::StatedPrecision() : was_set_(std::getenv(kVariable) != nullptr) {
  setenv(kVariable, "0", /*overwrite=*/0);
}

StatedPrecision::~StatedPrecision() {
  if (!was_set_) unsetenv(kVariable);
}

}  // namespace millrace::cli
