// Finds the lines of sources from the debugging information of programs and libraries, by the
// program addr2line of the GNU binutils, so that nothing of that is read in the process of a user.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace::cli {

// A place in the code of a program or library.
struct CodePlace {
  std::string path;    // of the file
  std::string offset;  // the address that the file has for it, such as "0x1234"

  auto operator<=>(const CodePlace&) const = default;
};

// Between the lines of a call that was inlined and those of its caller.
inline constexpr std::string_view kInlinedAt = ", inlined at ";

// Such as "main.cpp:41". A call that was inlined has all its lines with their functions, the
// innermost first: "main.cpp:12 in load(), inlined at main.cpp:41 in main".
using SourceLines = std::map<CodePlace, std::string>;

// Returns the lines of those places that have any. kUnsupported if addr2line is not installed;
// kDeadlineExceeded if it takes longer than 20 seconds.
Result<SourceLines> source_lines(const std::set<CodePlace>& places);

}  // namespace millrace::cli
