#include "serve/grpc/connections.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <exception>

#include "base/process/thread.h"

namespace millrace::serve {
namespace {

// When the system has no descriptor or no memory for another connection.
constexpr int kAcceptPauseMilliseconds = 50;

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> resolve(const std::string& address, uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
    return invalid_argument(fmt::format("\"{}\" is no IP address", address));
  return AddressList(found, &::freeaddrinfo);
}

// A second server on the port is an error, not a share of its clients.
bool listen_on(int socket, const addrinfo& address) {
  const int on = 1;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  return ::bind(socket, address.ai_addr, address.ai_addrlen) == 0 &&
         ::listen(socket, SOMAXCONN) == 0;
}

uint16_t port_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  // The port lies at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
}

std::string client_of(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&peer), size, host.data(), host.size(),
                    port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return peer.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                    : fmt::format("{}:{}", host.data(), port.data());
}

// 0 if the descriptor is closed.
ino_t inode_of(int descriptor) {
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 ? file.st_ino : 0;
}

}  // namespace

Status GrpcConnections::listen(const std::string& address, uint16_t port) {
  MILLRACE_ASSIGN_OR_RETURN(const AddressList found, resolve(address, port));
  UniqueFd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || !listen_on(socket.get(), *found))
    return io_error(fmt::format("listen on {} port {} for gRPC", address, port), errno);
  port_ = port_of(socket.get());
  listener_ = std::move(socket);
  return {};
}

void GrpcConnections::add_to(grpc::ServerBuilder& builder,
                             std::shared_ptr<grpc::ServerCredentials> credentials) {
  using Builder = grpc::ServerBuilder::experimental_type;
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      Builder::ExternalConnectionType::FROM_FD, std::move(credentials));
}

Status GrpcConnections::start() {
  end_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!end_) return io_error("create an eventfd for the end of gRPC", errno);
  MILLRACE_ASSIGN_OR_RETURN(thread_, start_thread("millrace-grpc", [this] { accept_all(); }));
  return {};
}

void GrpcConnections::stop() noexcept {
  if (!thread_.joinable()) return;
  static_cast<void>(::eventfd_write(end_.get(), 1));
  thread_.join();
  listener_ = UniqueFd();
}

void GrpcConnections::accept_all() {
  std::array<pollfd, 2> events = {pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  while (true) {
    if (::poll(events.data(), events.size(), -1) < 0) continue;
    if (events[0].revents != 0) return;
    if (events[1].revents != 0) accept_one();
  }
}

void GrpcConnections::accept_one() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    const bool is_over = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    pollfd end{.fd = end_.get(), .events = POLLIN, .revents = 0};
    if (!is_over) static_cast<void>(::poll(&end, 1, kAcceptPauseMilliseconds));
    return;
  }
  try {
    if (has_room()) return hand_over(std::move(socket));
    turned_away_(client_of(socket.get()));
  } catch (const std::exception&) {
    // Without memory the client is turned away without a count.
  }
}

bool GrpcConnections::has_room() {
  if (open_.size() < most_) return true;
  std::erase_if(open_, [](const Open& open) { return inode_of(open.descriptor) != open.inode; });
  return open_.size() < most_;
}

void GrpcConnections::hand_over(UniqueFd socket) {
  const int on = 1;
  static_cast<void>(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  open_.push_back({socket.get(), inode_of(socket.get())});
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.listener_fd = listener_.get();
  connection.fd = socket.release();
  acceptor_->HandleNewConnection(&connection);
}

}  // namespace millrace::serve
