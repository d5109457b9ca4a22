// The standard streams of the tool.
#pragma once

namespace millrace::cli {

// Gives the numbers of standard streams that are closed to /dev/null, so that no file which the
// tool opens gets one and receives what is printed. They are opened the wrong way round: what is
// printed to a closed stream fails, as it did. To be called before anything is opened.
void hold_standard_streams() noexcept;

}  // namespace millrace::cli
