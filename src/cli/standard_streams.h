// Protects the standard streams of the tool from closed descriptors.
#pragma once

namespace millrace::cli {

// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. Otherwise a file that the
// tool opens could get such a number and receive printed text. The descriptors are opened in the
// wrong direction, so printing to a closed stream still fails. To be called by main() before any
// file is opened.
void hold_standard_streams() noexcept;

}  // namespace millrace::cli
