// StructureReader: turns parts of a verified FlatBuffer into plain data. Private to the archive
// codec.
//
// The verifier has shown that everything lies inside the structure; this also sees to what it
// leaves open: enumerators in range, text that is UTF-8, vectors aligned for their elements, and a
// bound on the total. Tables may name one vector many times, so a small structure could unfold to
// any size; an honest one holds each byte once, and a reader that has taken more bytes than the
// structure has, refuses.
//
// The first failure sticks: after it everything reads as empty, so that a caller may read a whole
// table and check status() once.
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
  // The first failure counts.
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

  // To's enumerators have the numbers of From's, a scoped enumeration of the schema.
  template <class To, class From>
  To enumerator(const char* what, From value) {
    if (value > From::MAX) {
      fail(fmt::format("{} {} does not exist", what, static_cast<int>(value)));
      return To{};
    }
    return static_cast<To>(value);
  }

 private:
  // Whether these bytes of the structure may be read.
  bool take(const void* data, uint64_t bytes, size_t alignment);

  uint64_t budget_;
  Status status_;
};

}  // namespace millrace::graph
