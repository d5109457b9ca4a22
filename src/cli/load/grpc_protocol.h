// gRPC, for `millrace bench --url grpc://...` and `grpcs://...`.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "cli/bench/remote/protocol.h"

namespace millrace::cli {

// With `with_tls`, the server must be who it is called, by a certificate of one of the authorities
// in the file, or of the system if it is empty. Errors are those of reading the file.
Result<std::shared_ptr<const RemoteProtocol>> grpc_protocol(bool with_tls,
                                                            const std::string& ca_file);

}  // namespace millrace::cli
