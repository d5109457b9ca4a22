// unmap_quietly(): unmaps a Memory or a VideoFrame in destructors. The unmap of the program's own
// kind may throw, which is logged.
#pragma once

#include <exception>

#include "base/log.h"

namespace millrace::vartx {

template <class Mapped>
void unmap_quietly(Mapped& mapped) noexcept {
  try {
    mapped.unmap();
  } catch (const std::exception& error) {
    log_format(LogLevel::kWarning, "vartx", "unmap: {}", error.what());
  } catch (...) {
    log(LogLevel::kWarning, "vartx", "unmap: an exception that is no std::exception");
  }
}

}  // namespace millrace::vartx
