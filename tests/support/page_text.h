// Text files of the project, and the names in them: for tests that compare documents with the
// code.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace millrace::test {

inline std::string content(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first captures of all matches of `pattern`; `Names` is a set or a multiset of strings.
template <class Names>
Names all_of(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  Names names;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

}  // namespace millrace::test
