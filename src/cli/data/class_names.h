// ClassNames: the classes of a classifier as people write them: a text file with a class in each
// line, from 0. Immutable; to be read from several threads.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

class ClassNames {
 public:
  // No names: classes are numbers.
  ClassNames() = default;

  // kNotFound, kIoError as io::read_lines(), kInvalidArgument for a file without a class.
  static Result<ClassNames> read(const std::string& path);

  size_t size() const noexcept { return lines_.size(); }
  // The whole line; empty where there is none.
  std::string_view name(size_t index) const;

  // The class that a text means: a whole line; else the number of a line, from 0; else one of the
  // names in a line, which commas separate and an identifier such as n01443537 may precede, or
  // that identifier. Upper case is as lower case, and _ as a space. Without names any number.
  // kNotFound when there is no such class, kInvalidArgument when it may be several.
  Result<size_t> find(std::string_view text) const;

 private:
  using Index = std::multimap<std::string, size_t, std::less<>>;
  static Result<size_t> only_one(const Index& index, const std::string& text);

  std::vector<std::string> lines_;
  Index whole_, parts_;
};

}  // namespace millrace::cli
