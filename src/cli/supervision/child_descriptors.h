// Sets up the file descriptors of a sandboxed child process.
#pragma once

namespace millrace::cli {

// Leaves the process with four descriptors: standard input unchanged, if it can only be read, and
// /dev/null otherwise; `output` and `error` as standard output and error; and `channel`, whose new
// number is returned. Returns -1 if this fails. To be called in a child that has just been forked.
int keep_only(int channel, int output, int error) noexcept;

}  // namespace millrace::cli
