#include "nrt/sendrecv/doorway.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <utility>

#include "base/files/own_descriptor.h"
#include "base/log.h"

namespace millrace::nrt::sendrecv {
namespace {

constexpr int kBacklog = 512;
constexpr int kMostAtOnce = 64;       // connections accepted in one step
constexpr size_t kMostArrivals = 32;  // connections without a complete greeting
// Nanoseconds in which the greeting must arrive. Senders send it as soon as they are connected.
constexpr int64_t kPatience = 5'000'000'000;

uint16_t port_of(const SocketAddress& address) noexcept {
  const auto* const common = reinterpret_cast<const sockaddr_in*>(address.get());
  return ntohs(common->sin_port);  // at the same offset in sockaddr_in6
}

}  // namespace

// Logs the first, second, fourth, eighth refusal and so on, so that hosts which connect repeatedly
// cannot fill the log.
void Doorway::note_refusal(const SocketAddress& host, std::string_view why) {
  if (std::has_single_bit(++refusals_))
    log_format(LogLevel::kWarning, "nrt",
               "send and receive: a connection from {} was closed: {}; {} so far", host.ip(), why,
               refusals_);
}

Result<Doorway> Doorway::open(const SocketAddress& address) {
  UniqueFd socket =
      own_descriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  constexpr int kOn = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn) != 0 ||
      ::bind(socket.get(), address.get(), address.size()) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    return Status(StatusCode::kIoError,
                  fmt::format("cannot listen at port {} of {} ({}); "
                              "MILLRACE_NRT_SENDRECV_PORT selects other ports",
                              port_of(address), address.ip(), io_error("bind", errno).message()));
  return Doorway(address, std::move(socket));
}

// If the poller reports an error, interest_ stays as it is and the next call tries again.
void Doorway::listen(bool now, Poller& poller) noexcept {
  const Interest wanted = now ? Interest::kReadable : Interest::kNothing;
  if (poller.watch(socket_.get(), interest_, wanted).ok()) interest_ = wanted;
}

void Doorway::step(int64_t now_ns, Poller& poller, Expectations& expectations) {
  if (interest_ != Interest::kNothing) take_in(now_ns, poller, expectations);
  std::erase_if(arrivals_, [&](Arrival& arrival) {
    if (!hear(arrival, now_ns)) return false;
    leave(arrival, poller);
    if (arrival.bytes < sizeof arrival.greeting ||
        !expectations.admit(arrival.host, arrival.greeting, arrival.socket))
      note_refusal(arrival.host, "no communicator expects this sender");
    return true;
  });
}

void Doorway::shut(Poller& poller) noexcept {
  listen(false, poller);
  for (Arrival& arrival : arrivals_) leave(arrival, poller);
}

void Doorway::leave(Arrival& arrival, Poller& poller) noexcept {
  [[maybe_unused]] const Status left =
      poller.watch(arrival.socket.get(), Interest::kReadable, Interest::kNothing);
}

void Doorway::take_in(int64_t now_ns, Poller& poller, const Expectations& expectations) {
  for (int count = 0; count < kMostAtOnce; ++count) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    UniqueFd socket = own_descriptor(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from),
                                               &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // The backlog stays readable if, for instance, the process has no descriptors left. Without
      // this, the poller would report that continuously, until the service's next step.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) listen(false, poller);
      return;
    }
    const SocketAddress host(from, size);
    if (!expectations.expects(host)) {
      note_refusal(host, "no communicator expects this host");
      continue;
    }
    if (arrivals_.size() == kMostArrivals) {
      leave(arrivals_.front(), poller);
      arrivals_.pop_front();
    }
    const int fd = socket.get();
    arrivals_.push_back({std::move(socket), host, now_ns + kPatience, {}, 0});
    if (!poller.watch(fd, Interest::kNothing, Interest::kReadable).ok()) arrivals_.pop_back();
  }
}

bool Doorway::hear(Arrival& arrival, int64_t now_ns) {
  const ssize_t got =
      ::recv(arrival.socket.get(), reinterpret_cast<std::byte*>(&arrival.greeting) + arrival.bytes,
             sizeof arrival.greeting - arrival.bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return now_ns >= arrival.deadline_ns;
  if (got <= 0) return true;
  arrival.bytes += static_cast<size_t>(got);
  return arrival.bytes == sizeof arrival.greeting;
}

}  // namespace millrace::nrt::sendrecv
