// The descriptors of a sandboxed child.
#pragma once

namespace millrace::cli {

// From here on the process has four descriptors: standard input as it is, if it can only be read,
// and otherwise /dev/null; `output` and `error` in the place of standard output and error; and
// `channel`, whose new number is returned. -1 when they cannot be had. For a child that has just
// been forked.
int keep_only(int channel, int output, int error) noexcept;

}  // namespace millrace::cli
