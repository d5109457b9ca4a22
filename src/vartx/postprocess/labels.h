// Labels: the names of a network's classes, from a text file. Immutable, and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millrace::vartx {

class Labels {
 public:
  // No labels: every class has an empty one.
  Labels() = default;
  // Reads a file with one label per line, whose number, from 0, is the class; lines end in LF or
  // CR LF. An empty path gives no labels. Throws std::exception with the reason when the file
  // cannot be read or has no line.
  explicit Labels(const std::string& path);

  // Beyond the last line, the number of the class: what a program prints then still tells classes
  // apart.
  std::string of(uint32_t class_id) const;
  size_t count() const { return lines_.size(); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace millrace::vartx
