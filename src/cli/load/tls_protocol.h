// HTTP over TLS, for `millrace bench --url https://...`.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "cli/bench/remote/protocol.h"

namespace millrace::cli {

// The server must be `host`, by a certificate of one of the authorities in the file, or of the
// system if it is empty. kInvalidArgument if the file has none.
Result<std::shared_ptr<const RemoteProtocol>> https_protocol(const std::string& host,
                                                             const std::string& ca_file);

}  // namespace millrace::cli
