// The forms of a line of the log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace millrace {

enum class LogFormat {
  kPlain,  // [WARNING] unit: the text
  kFull,   // 2026-11-30T10:25:00.123456Z 4711 [WARNING] unit: the text; 4711 is the thread
  kJson,   // {"time":...,"process":...,"thread":...,"level":...,"component":...,"message":...}
};

// Returns the format of "plain", "full" or "json", in upper or lower case.
std::optional<LogFormat> parse_log_format(std::string_view text);

// Returns the line, with a line end, as it is logged now by this thread. Requirement: `text` is
// printable (printable.h). Throws std::bad_alloc.
std::string log_line(LogFormat format, LogLevel level, std::string_view component,
                     std::string_view text);

}  // namespace millrace
