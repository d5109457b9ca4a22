// Chooses the protocol of a URL. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "cli/bench/remote/protocol.h"

namespace millrace::cli {

// Null for http. Errors are those of parse_url(), and about the file of authorities.
Result<std::shared_ptr<const RemoteProtocol>> protocol_of(const std::string& url,
                                                          const std::string& ca_file);

}  // namespace millrace::cli
