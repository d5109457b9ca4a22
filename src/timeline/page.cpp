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

void append_escaped(std::string_view json, std::string& text) {
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
}

}  // namespace

std::string page_of(std::string_view trace) {
  const std::string_view page = kPageText;
  const size_t place = page.find(kPlace);
  std::string text;
  text.reserve(page.size() + trace.size());
  text += page.substr(0, place);
  append_escaped(trace, text);
  text += page.substr(place + kPlace.size());
  return text;
}

std::string_view trace_in(std::string_view page) {
  const size_t element = page.find(kBegin);
  if (element == std::string_view::npos) return {};
  const size_t begin = element + kBegin.size();
  return page.substr(begin, page.find(kEnd, begin) - begin);
}

}  // namespace millrace::timeline
