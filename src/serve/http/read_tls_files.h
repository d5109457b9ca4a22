// Reads the files of TLS. Thread-safe.
#pragma once

#include "base/status.h"
#include "serve/http/tls_files.h"

namespace millrace::serve {

// Reads the files, and checks that they belong together. kInvalidArgument if one is missing, or has
// not what it should; otherwise errors are those of io::read_file(). The message names the file.
Result<TlsFiles> read_tls_files(const TlsPaths& paths);

}  // namespace millrace::serve
