// StructureReader: converts parts of a verified FlatBuffer into plain data. Private to the archive
// codec. For one thread.
//
// The FlatBuffers verifier has shown that everything lies inside the structure. The reader checks
// what the verifier does not: that enumerators are in range, text is UTF-8 and vectors are aligned
// for their elements. It also limits how much is read in total. Several tables may refer to the
// same vector, so a small structure could otherwise expand to any size. A valid structure refers to
// each byte once, so reading more bytes than the structure has is a failure.
//
// The first failure is kept. After it all reads return empty values, so that a caller may read a
// whole table and check status() once.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::graph {

class StructureReader {
 public:
  explicit StructureReader(uint64_t structure_bytes) : budget_(structure_bytes) {}

  const Status& status() const noexcept { return status_; }
  // Keeps the first failure; ignores the following ones.
  void fail(std::string reason);

  std::string text(const flatbuffers::String& text);

  template <class T>
  std::vector<T> list(const flatbuffers::Vector<T>& vector) {
    if (!take(vector.Data(), uint64_t{vector.size()} * sizeof(T), alignof(T))) return {};
    return {vector.begin(), vector.end()};
  }

  template <class T>
  std::vector<T> list(const flatbuffers::Vector<const T*>& structs) {
    if (!take(structs.Data(), uint64_t{structs.size()} * sizeof(T), alignof(T))) return {};
    const auto* first = reinterpret_cast<const T*>(structs.Data());
    return {first, first + structs.size()};
  }

  // Converts an enumerator of the schema, a scoped enumeration, to one of `To`, which has the same
  // numbers. Fails if it is out of range.
  template <class To, class From>
  To enumerator(const char* what, From value) {
    if (value > From::MAX) {
      fail(fmt::format("{} {} does not exist", what, static_cast<int>(value)));
      return To{};
    }
    return static_cast<To>(value);
  }

 private:
  // Checks that these bytes of the structure may be read, and takes them from the budget; false on
  // failure.
  bool take(const void* data, uint64_t bytes, size_t alignment);

  uint64_t budget_;
  Status status_;
};

}  // namespace millrace::graph
