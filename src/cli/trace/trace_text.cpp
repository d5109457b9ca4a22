#include "cli/trace/trace_text.h"

#include <utility>

#include "io/file.h"
#include "timeline/page.h"

namespace millrace::cli {

Result<TraceText> TraceText::read(const std::string& path) {
  TraceText text;
  MILLRACE_ASSIGN_OR_RETURN(text.file_, io::read_file(path));
  text.is_page_ = path.ends_with(kTracePage);
  return text;
}

std::string_view TraceText::json() const noexcept {
  const std::string_view whole(reinterpret_cast<const char*>(file_.data()), file_.size());
  return is_page_ ? timeline::trace_in(whole) : whole;
}

}  // namespace millrace::cli
