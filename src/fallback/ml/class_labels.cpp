#include "fallback/ml/class_labels.h"

#include <numeric>

namespace millrace::fallback {

Result<std::vector<int64_t>> class_labels_of(const NodeView& node) {
  for (const char* name : {"classlabels_int64s", "classlabels_ints"}) {
    const Dims* labels = node.integers(name);
    if (labels != nullptr && !labels->empty()) return *labels;
  }
  const auto* names = node.texts("classlabels_strings");
  if (names == nullptr || names->empty()) return invalid_argument("it has no class labels");
  std::vector<int64_t> numbers(names->size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void set_labels_and_scores(Inference& node, size_t rows, size_t scores) {
  node.set(0, DataType::kInt64, {static_cast<int64_t>(rows)});
  node.set(1, DataType::kFloat32, {static_cast<int64_t>(rows), static_cast<int64_t>(scores)});
}

}  // namespace millrace::fallback
