// TextSink: receives text piece by piece, so that it need not be in memory at one time. A failure
// ends it.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"

namespace millrace::timeline {

using TextSink = std::function<Status(std::string_view)>;

}  // namespace millrace::timeline
