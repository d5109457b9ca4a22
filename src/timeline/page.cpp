// The page is a template, page/page.html, with its scripts, which the build puts into page_text.h.
// The trace is the content of an element of it. There, "<" could end the element; it occurs in
// texts only, where JSON may have an escape sequence instead.
#include "timeline/page.h"

#include "timeline/page_text.h"

namespace millrace::timeline {
namespace {

constexpr std::string_view kPlace = "@TRACE@";
constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"trace\">";
constexpr std::string_view kEnd = "</script>";

std::string escaped(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

Status write_page(const std::function<Status(const TextSink&)>& trace, const TextSink& sink) {
  const std::string_view page = kPageText;
  const size_t place = page.find(kPlace);
  MILLRACE_RETURN_IF_ERROR(sink(page.substr(0, place)));
  MILLRACE_RETURN_IF_ERROR(trace([&](std::string_view json) { return sink(escaped(json)); }));
  return sink(page.substr(place + kPlace.size()));
}

std::string page_of(std::string_view trace) {
  std::string text;
  const auto add = [&](std::string_view piece) {
    text += piece;
    return Status();
  };
  static_cast<void>(write_page([&](const TextSink& sink) { return sink(trace); }, add));
  return text;
}

std::string_view trace_in(std::string_view page) {
  const size_t element = page.find(kBegin);
  if (element == std::string_view::npos) return {};
  const size_t begin = element + kBegin.size();
  return page.substr(begin, page.find(kEnd, begin) - begin);
}

}  // namespace millrace::timeline
