#include "graph/compiled_model.h"

namespace millrace::graph {

const char* name_of(Precision precision) noexcept {
  return precision == Precision::kBf16 ? "bf16" : "fp32";
}

}  // namespace millrace::graph
