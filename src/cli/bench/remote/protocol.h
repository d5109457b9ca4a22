// RemoteProtocol: another way to a server than plain HTTP. The tool itself has none, since it links
// neither gRPC nor TLS: the program millrace-load has. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "cli/bench/remote/connection.h"
#include "cli/bench/remote/remote_model.h"

namespace millrace::cli {

class RemoteProtocol {
 public:
  virtual ~RemoteProtocol() = default;
  // A connection that is not open yet. The server must outlive it.
  virtual std::unique_ptr<RemoteConnection> connection_to(const RemoteServer& server) const = 0;
  // As describe() and request_text(); by default those of HTTP.
  virtual Result<RemoteModel> describe(const RemoteServer& server, const std::string& model) const;
  virtual std::string request(const RemoteServer& server, const RemoteModel& model,
                              std::span<const graph::Boundary> inputs,
                              std::span<const std::span<const std::byte>> bytes) const;
};

}  // namespace millrace::cli
