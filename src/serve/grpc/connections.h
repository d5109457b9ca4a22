// GrpcConnections: accepts a limited number of connections for gRPC and hands them over to it,
// since gRPC 1.51 itself has no such limit.
//
// gRPC owns a socket then, and does not tell when it has closed it. So the open ones are known by
// their descriptors and inodes, and looked through when the limit seems to be reached.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::serve {

class GrpcConnections {
 public:
  // `turned_away` is called with the address of a client whose connection is closed at once.
  GrpcConnections(uint32_t most, std::function<void(std::string)> turned_away)
      : most_(most), turned_away_(std::move(turned_away)) {}
  ~GrpcConnections() { stop(); }

  // Listens. kInvalidArgument for an address that is none; kIoError, with the reason, if it cannot.
  Status listen(const std::string& address, uint16_t port);
  // Before the server is built.
  void add_to(grpc::ServerBuilder& builder, std::shared_ptr<grpc::ServerCredentials> credentials);
  // Begins to accept, once the server has been built. kResourceExhausted.
  Status start();
  // Accepts no more. The server must still be there, unless it was never built.
  void stop() noexcept;

  // The one that was chosen.
  uint16_t port() const { return port_; }

 private:
  struct Open {
    int descriptor;
    ino_t inode;
  };

  void accept_all();
  void accept_one();
  bool has_room();
  void hand_over(UniqueFd socket);

  const uint32_t most_;
  const std::function<void(std::string)> turned_away_;
  UniqueFd listener_, end_;  // an eventfd, which can be read when nothing more is accepted
  uint16_t port_ = 0;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::vector<Open> open_;  // used by the thread only; some may be closed already
  std::thread thread_;
};

}  // namespace millrace::serve
