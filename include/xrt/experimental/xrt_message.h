// Lines of programs in the log of the runtime. A stand-in for the header of the board's runtime;
// see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_MESSAGE_H
#define XRT_EXPERIMENTAL_XRT_MESSAGE_H

#include <boost/format.hpp>
#include <string>
#include <utility>

#pragma GCC visibility push(default)

namespace xrt::message {

enum class level : unsigned short {
  emergency = 0,
  alert = 1,
  critical = 2,
  error = 3,
  warning = 4,
  notice = 5,
  info = 6,
  debug = 7
};

// Adds a line to the log, with `tag` before it. Levels up to error are errors there, and notices
// are information. The environment variable MILLRACE_LOG says which lines are shown. Thread-safe.
void log(level level, const std::string& tag, const std::string& text);

// The same with the arguments in the places that `format` has for them, as boost::format writes
// them ("%s", "%1%"). Throws what boost::format throws when they do not fit.
template <class... Args>
void logf(level level, const std::string& tag, const char* format, Args&&... args) {
  boost::format text(format);
  static_cast<void>((text % ... % std::forward<Args>(args)));
  log(level, tag, text.str());
}

}  // namespace xrt::message

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_MESSAGE_H
