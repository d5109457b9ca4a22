#include "cli/bench/remote/protocol.h"

namespace millrace::cli {

Result<RemoteModel> RemoteProtocol::describe(const RemoteServer& server,
                                             const std::string& model) const {
  return describe_over_http(server, model);
}

std::string RemoteProtocol::request(const RemoteServer& server, const RemoteModel& model,
                                    std::span<const graph::Boundary> inputs,
                                    std::span<const std::span<const std::byte>> bytes) const {
  return http_request_text(server, model, inputs, bytes);
}

}  // namespace millrace::cli
