// ClassNames: the names of a classifier's classes, from a text file with one class per line,
// counted from 0. Immutable, and so thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

class ClassNames {
 public:
  // Without names: classes are known by their index only.
  ClassNames() = default;

  // Reads the names. kNotFound and kIoError like io::read_lines(); kInvalidArgument if the file has
  // no class.
  static Result<ClassNames> read(const std::string& path);

  size_t size() const noexcept { return lines_.size(); }
  // Returns the whole line of a class; empty if there is no such line.
  std::string_view name(size_t index) const;

  // Finds the class that `text` denotes. In this order, it may be a whole line; the index of a
  // class; one of the names in a line, which are separated by commas; or the identifier, such as
  // n01443537, that may precede these. Case is ignored, and _ is a space. Without names, any index
  // is accepted. kNotFound if there is no such class, kInvalidArgument if several match.
  Result<size_t> find(std::string_view text) const;

 private:
  using Index = std::multimap<std::string, size_t, std::less<>>;
  static Result<size_t> only_one(const Index& index, const std::string& text);

  std::vector<std::string> lines_;
  Index whole_, parts_;
};

}  // namespace millrace::cli
