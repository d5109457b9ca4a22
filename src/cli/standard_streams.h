// Protects the standard streams of the tool.
#pragma once

namespace millrace::cli {

// Opens /dev/null under the numbers of standard streams that are closed, so that no file which the
// tool opens gets such a number and receives printed text. They are opened in the wrong direction,
// so printing to a closed stream still fails. To be called before anything is opened.
void hold_standard_streams() noexcept;

}  // namespace millrace::cli
