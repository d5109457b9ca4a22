// Labels: the names of a network's classes, read from a text file. Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millrace::vartx {

class Labels {
 public:
  // Without labels, the label of every class is empty.
  Labels() = default;
  // Reads a file with one label per line; line i, from 0, is the label of class i. Lines end in LF
  // or CR LF. An empty path gives no labels. Throws a std::exception, with the reason, when the
  // file cannot be read or is empty.
  explicit Labels(const std::string& path);

  // Returns the label of a class. For a class beyond the last line it is the number of the class,
  // so that classes can still be distinguished.
  std::string of(uint32_t class_id) const;
  size_t count() const { return lines_.size(); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace millrace::vartx
