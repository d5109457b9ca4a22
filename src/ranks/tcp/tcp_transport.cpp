#include "ranks/tcp/tcp_transport.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/cancellation.h"
#include "base/contained.h"
#include "base/process/thread.h"
#include "ranks/rendezvous/links.h"
#include "ranks/tcp/transport_impl.h"

namespace millrace::ranks {

Result<std::unique_ptr<Transport>> TcpTransport::start(uint32_t rank,
                                                       std::vector<UniqueFd> sockets) {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return io_error("epoll_create1", errno);
  UniqueFd ends(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ends) return io_error("eventfd", errno);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = rank;  // this rank has no connection, so its number stands for the eventfd
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, ends.get(), &event) != 0)
    return io_error("epoll_ctl", errno);
  std::unique_ptr<TcpTransport> made(new TcpTransport(rank, std::move(epoll), std::move(ends)));
  made->connections_.resize(sockets.size());
  for (uint32_t peer = 0; peer < sockets.size(); ++peer) {
    if (peer == rank) continue;
    MILLRACE_ASSIGN_OR_RETURN(made->connections_[peer],
                              Connection::open(std::move(sockets[peer]), made->epoll_.get(), peer));
  }
  MILLRACE_ASSIGN_OR_RETURN(made->thread_,
                            start_thread("millrace-ranks", [own = made.get()] { own->run(); }));
  return std::unique_ptr<Transport>(std::move(made));
}

TcpTransport::~TcpTransport() {
  const CancellationOff whole;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(ends_.get(), &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
}

void TcpTransport::run() noexcept {
  std::array<epoll_event, 64> events;
  for (;;) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.u32 == rank_) return;
      connections_[event.data.u32]->on_events(event.events);
    }
  }
}

Result<std::unique_ptr<Window>> TcpTransport::open_window(std::span<std::byte> memory) {
  return contained([&]() -> Result<std::unique_ptr<Window>> {
    return std::unique_ptr<Window>(std::make_unique<TcpWindow>(*this, memory));
  });
}

void TcpTransport::close() noexcept {
  for (const std::unique_ptr<Connection>& connection : connections_)
    if (connection != nullptr)
      connection->end({StatusCode::kIoError, "this rank has ended the connection"});
}

void TcpTransport::forget(TcpWindow& window) noexcept {
  for (const std::unique_ptr<Connection>& connection : connections_)
    if (connection != nullptr) connection->forget(window);
}

Result<std::unique_ptr<Transport>> connect_tcp_transport(const MeetingOptions& options) {
  return contained([&]() -> Result<std::unique_ptr<Transport>> {
    MILLRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Meeting> meeting, Meeting::open(options));
    MILLRACE_ASSIGN_OR_RETURN(const std::string address, meeting->own_address());
    MILLRACE_ASSIGN_OR_RETURN(Links links, Links::open(options, address));
    MILLRACE_ASSIGN_OR_RETURN(const Roster roster,
                              meeting->exchange(std::vector<Card>(options.ranks, links.card())));
    MILLRACE_ASSIGN_OR_RETURN(std::vector<UniqueFd> sockets, links.connect(options, roster));
    return TcpTransport::start(options.rank, std::move(sockets));
  });
}

}  // namespace millrace::ranks
