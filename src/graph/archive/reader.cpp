#include "graph/archive/reader.h"

#include "base/utf8.h"

namespace millrace::graph {
void StructureReader::fail(std::string reason) {
  if (status_.ok()) status_ = corrupt_data(std::move(reason));
}

std::string StructureReader::text(const flatbuffers::String& text) {
  if (!take(text.Data(), text.size(), 1)) return {};
  if (!is_utf8(text.string_view())) {
    fail("a name is not valid UTF-8");
    return {};
  }
  return text.str();
}

bool StructureReader::take(const void* data, uint64_t bytes, size_t alignment) {
  if (!status_.ok()) return false;
  if (reinterpret_cast<uintptr_t>(data) % alignment != 0 && bytes != 0) {
    fail("a list is not aligned for its elements");
    return false;
  }
  if (bytes > budget_) {
    fail("the structure uses parts of itself more than once");
    return false;
  }
  budget_ -= bytes;
  return true;
}

}  // namespace millrace::graph
