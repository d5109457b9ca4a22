// TraceText: the JSON of a trace, from a JSON file or from a page. An object may be used by one
// thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

// The ends of the names of traces.
inline constexpr std::string_view kTraceJson = ".json", kTracePage = ".html";

class TraceText {
 public:
  // Fails as io::read_file().
  static Result<TraceText> read(const std::string& path);

  std::string_view json() const noexcept;

 private:
  std::vector<std::byte> file_;
  bool is_page_ = false;
};

}  // namespace millrace::cli
