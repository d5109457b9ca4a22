#include "graph/type_set.h"

namespace millrace::graph {

std::string to_string(TypeSet types) {
  std::string names;
  for (int number = 1; number < tensor::kDataTypeCount; ++number) {
    const auto type = static_cast<tensor::DataType>(number);
    if (!types.contains(type)) continue;
    if (!names.empty()) names += ", ";
    names += tensor::to_string(type);
  }
  return names;
}

}  // namespace millrace::graph
