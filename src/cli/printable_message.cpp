#include "cli/printable_message.h"

#include "base/printable.h"

namespace millrace::cli {

std::string printable_message(std::string_view text) {
  constexpr std::string_view kNextEntry = "\n  ";
  std::string message;
  for (size_t end = text.find(kNextEntry); end != std::string_view::npos;
       end = text.find(kNextEntry)) {
    message += printable(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return message + printable(text);
}

}  // namespace millrace::cli
