#include "cli/load/protocol_of.h"

#include "cli/load/grpc_protocol.h"
#include "cli/load/tls_protocol.h"

namespace millrace::cli {

Result<std::shared_ptr<const RemoteProtocol>> protocol_of(const std::string& url,
                                                          const std::string& ca_file) {
  MILLRACE_ASSIGN_OR_RETURN(const RemoteUrl parsed, parse_url(url));
  if (parsed.scheme == "https") return https_protocol(parsed.host, ca_file);
  if (parsed.scheme == "http") return std::shared_ptr<const RemoteProtocol>();
  return grpc_protocol(parsed.scheme == "grpcs", ca_file);
}

}  // namespace millrace::cli
