// The event loop: every wake-up of the poller, and every tick while a communicator is connecting,
// runs step(), which visits all doorways and links of all open cores with the mutex held. A step
// never blocks: all sockets are non-blocking, and a connection moves a bounded number of bytes.
#include "nrt/sendrecv/service.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process/thread.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt::sendrecv {
namespace {

// The interval at which the thread checks deadlines and repeats attempts while a communicator is
// connecting.
constexpr std::chrono::milliseconds kTick{50};

bool is_ready(std::span<const epoll_event> ready, int fd) noexcept {
  return std::ranges::any_of(ready, [&](const epoll_event& event) { return event.data.fd == fd; });
}

bool is_connecting(const Communicator& communicator) noexcept {
  return communicator.state() == Communicator::State::kConnecting;
}

bool same_ends(const Route& one, const Route& other) noexcept {
  return one.side == other.side && one.peer_core == other.peer_core &&
         one.peer.same_host(other.peer);
}

Status not_open(int core) {
  return invalid_argument(fmt::format("core {} is not open for sends and receives", core));
}

void end_handles(Communicator& communicator) noexcept {
  communicator.for_each_used(
      [](Request& request) { RequestHandles::of_process().drop(request.handle); });
  CommunicatorHandles::of_process().drop(communicator.handle);
}

// True if the sender has closed the connection. Between its greeting and the answer a sender sends
// nothing, so there can be no data before the end of the stream.
bool has_gone(int socket) noexcept {
  std::byte next{};
  const ssize_t got = ::recv(socket, &next, sizeof next, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace

// The connections that the receiving communicators of one core expect.
class Service::CoreExpectations final : public Expectations {
 public:
  explicit CoreExpectations(Core& core) noexcept : core_(core) {}

  bool expects(const SocketAddress& host) const override {
    return std::ranges::any_of(core_.links, [&](const Link& link) { return awaits(link, host); });
  }

  bool admit(const SocketAddress& host, const Greeting& greeting, UniqueFd& socket) override {
    if (has_gone(socket.get())) return false;
    for (const Link& link : core_.links) {
      Communicator& communicator = *link.communicator;
      if (!awaits(link, host) || greeting != communicator.route().greeting()) continue;
      const Greeting answer = answer_to(greeting);
      if (::send(socket.get(), &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) !=
          static_cast<ssize_t>(sizeof answer))
        return false;
      communicator.connected(std::move(socket));
      return true;
    }
    return false;
  }

 private:
  static bool awaits(const Link& link, const SocketAddress& host) noexcept {
    const Route& route = link.communicator->route();
    return route.side == Side::kReceive && is_connecting(*link.communicator) &&
           route.peer.same_host(host);
  }

  Core& core_;
};

Service::Service(const Options& options) : options_(options) {}

Service::~Service() {
  stop();
}

Status Service::open(int core) {
  if (core < 0 || static_cast<uint32_t>(core) >= options_.cores)
    return invalid_argument(
        fmt::format("there is no core {}: the host has {}", core, options_.cores));
  const std::lock_guard lock(mutex_);
  if (cores_.try_emplace(core).second) return {};
  return invalid_argument(fmt::format("core {} is open for sends and receives already", core));
}

Status Service::check_open(int core) {
  const std::lock_guard lock(mutex_);
  return cores_.contains(core) ? Status() : not_open(core);
}

Status Service::close(int core) {
  const std::lock_guard lock(mutex_);
  const auto found = cores_.find(core);
  if (found == cores_.end()) return not_open(core);
  for (const Link& link : found->second.links) {
    const Communicator& communicator = *link.communicator;
    const char* const why = is_connecting(communicator)  ? "is not connected yet"
                            : communicator.has_pending() ? "has pending requests"
                                                         : nullptr;
    if (why != nullptr)
      return Status(StatusCode::kBusy, fmt::format("{} {}", communicator.name(), why));
  }
  for (const Link& link : found->second.links) {
    [[maybe_unused]] const Status left = watch(*link.communicator, Interest::kNothing);
    end_handles(*link.communicator);
  }
  for (Doorway& doorway : found->second.doorways) doorway.shut(*poller_);
  cores_.erase(found);
  return {};
}

Result<std::shared_ptr<Communicator>> Service::begin(Side side, const char* peer_ip, int peer_core,
                                                     int core) {
  const CancellationOff whole;
  if (peer_core < 0 || static_cast<uint32_t>(peer_core) >= kMostCores)
    return invalid_argument(fmt::format("there is no core {} on any host", peer_core));
  const auto port = static_cast<uint16_t>(options_.port + peer_core);
  MILLRACE_ASSIGN_OR_RETURN(const SocketAddress peer, SocketAddress::parse(peer_ip, port));
  const std::lock_guard lock(mutex_);
  const auto found = cores_.find(core);
  if (found == cores_.end()) return not_open(core);
  Core& own = found->second;
  if (own.links.size() == kMostCommunicators)
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("core {} has {} communicators already", core, kMostCommunicators));
  MILLRACE_RETURN_IF_ERROR(start());
  const Route route{side, core, peer_core, peer};
  if (side == Side::kReceive) MILLRACE_RETURN_IF_ERROR(open_doorway(own, route));
  auto made = std::make_shared<Communicator>(route, now_ns() + options_.connect_timeout.count());
  own.links.push_back(
      {made, side == Side::kSend ? std::optional<Dial>(std::in_place, route) : std::nullopt});
  poller_->wake();
  return made;
}

Status Service::open_doorway(Core& core, const Route& route) {
  MILLRACE_ASSIGN_OR_RETURN(const SocketAddress own, local_address_towards(route.peer));
  for (const Doorway& doorway : core.doorways)
    if (doorway.address().same_host(own)) return {};
  const auto port = static_cast<uint16_t>(options_.port + route.core);
  MILLRACE_ASSIGN_OR_RETURN(Doorway doorway, Doorway::open(own.with_port(port)));
  core.doorways.push_back(std::move(doorway));
  return {};
}

void Service::post(Request& request) noexcept {
  request.owner->post(request);
  poller_->wake();
}

void Service::give_up_if_overdue(const Request& request) {
  Communicator& communicator = *request.owner;
  const auto is_overdue = [&] {
    const int64_t since = std::max(request.posted_ns, communicator.last_progress_ns());
    return !request.done() && now_ns() - since > options_.request_timeout.count();
  };
  if (!is_overdue()) return;
  const std::lock_guard lock(mutex_);
  if (!is_overdue()) return;  // there was progress before the mutex was locked
  fail(communicator, {StatusCode::kDeadlineExceeded,
                      fmt::format("no data was transferred for {} s",
                                  options_.request_timeout / std::chrono::seconds(1))});
}

// Requirement: mutex_ is held.
Status Service::start() {
  if (thread_.joinable()) return {};
  if (!poller_) {
    MILLRACE_ASSIGN_OR_RETURN(Poller poller, Poller::make());
    poller_.emplace(std::move(poller));
  }
  MILLRACE_ASSIGN_OR_RETURN(thread_, start_thread("millrace-net", [this] { run(); }));
  return {};
}

void Service::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) {
    poller_->wake();
    thread_.join();
  }
  const std::lock_guard lock(mutex_);
  const Status closed(StatusCode::kClosed, "nrt_close has ended the runtime");
  for (auto& [number, core] : cores_)
    for (const Link& link : core.links) link.communicator->fail(closed);
  cores_.clear();
}

void Service::run() {
  std::optional<std::chrono::milliseconds> most = kTick;
  while (true) {
    const std::span<const epoll_event> ready = poller_->wait(most);
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    try {
      step(ready);
    } catch (const std::bad_alloc&) {
      // The remaining work is done at the next tick.
      connecting_ = true;
    }
    most = connecting_ ? std::optional(kTick) : std::nullopt;
  }
}

void Service::step(std::span<const epoll_event> ready) {
  connecting_ = false;
  const int64_t now = now_ns();
  for (auto& [number, core] : cores_) {
    step_doorways(core, now);
    step_links(core, ready, now);
  }
}

// Lets the doorways of a core listen while one of its communicators waits for its sender.
void Service::step_doorways(Core& core, int64_t now_ns) {
  CoreExpectations expectations(core);
  const bool waited = std::ranges::any_of(core.links, [](const Link& link) {
    return link.communicator->route().side == Side::kReceive && is_connecting(*link.communicator);
  });
  for (Doorway& doorway : core.doorways) {
    doorway.listen(waited, *poller_);
    doorway.step(now_ns, *poller_, expectations);
  }
}

void Service::step_links(Core& core, std::span<const epoll_event> ready, int64_t now_ns) {
  for (Link& link : core.links) {
    Communicator& communicator = *link.communicator;
    if (is_connecting(communicator)) connect(core, link, now_ns);
    const bool idle = communicator.interest == Interest::kNothing;
    if (communicator.state() == Communicator::State::kConnected &&
        (idle ? communicator.has_pending() : is_ready(ready, communicator.fd())))
      serve(communicator);
  }
}

void Service::connect(Core& core, Link& link, int64_t now_ns) {
  Communicator& communicator = *link.communicator;
  const bool first = std::ranges::none_of(core.links, [&](const Link& other) {
    return &other < &link && is_connecting(*other.communicator) &&
           same_ends(other.communicator->route(), communicator.route());
  });
  if (link.dial && first) {
    if (UniqueFd socket = link.dial->step(now_ns, *poller_); socket) {
      communicator.connected(std::move(socket));
      link.dial.reset();
      return;
    }
  }
  connecting_ = true;
  if (now_ns < communicator.connect_deadline_ns()) return;
  fail(communicator, {StatusCode::kDeadlineExceeded,
                      fmt::format("not connected within {:.1f} s: {}",
                                  std::chrono::duration<double>(options_.connect_timeout).count(),
                                  link.dial ? link.dial->reason() : "no sender has connected")});
  if (link.dial) link.dial->stop(*poller_);
  link.dial.reset();
}

void Service::serve(Communicator& communicator) {
  const Result<Interest> wanted = communicator.progress();
  const Status served = wanted.ok() ? watch(communicator, *wanted) : wanted.status();
  if (!served.ok()) fail(communicator, served);
}

void Service::fail(Communicator& communicator, const Status& why) {
  if (communicator.state() == Communicator::State::kFailed) return;
  [[maybe_unused]] const Status left = watch(communicator, Interest::kNothing);
  log_format(LogLevel::kWarning, "nrt", "{}: {}", communicator.name(), why.message());
  communicator.fail(why);
}

Status Service::watch(Communicator& communicator, Interest now) noexcept {
  MILLRACE_RETURN_IF_ERROR(poller_->watch(communicator.fd(), communicator.interest, now));
  communicator.interest = now;
  return {};
}

}  // namespace millrace::nrt::sendrecv
