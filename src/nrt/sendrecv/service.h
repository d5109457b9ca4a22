// Service: sends and receives between processes, over TCP. One thread waits for all connections of
// the process (epoll) and moves their bytes; it is started with the first connection.
//
// Rendezvous. Core N of a host is reached at port `port` + N. The receiver listens there while it
// waits for a sender, at the address at which the host that it names reaches it, and nowhere else.
// The sender connects and says which core it is; the receiver answers once a program waits for it.
// If there are several connections between the same two cores, the first that was begun on one side
// is the first on the other.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"
#include "nrt/sendrecv/communicator.h"
#include "nrt/sendrecv/dial.h"
#include "nrt/sendrecv/doorway.h"
#include "nrt/sendrecv/poller.h"

namespace millrace::nrt::sendrecv {

struct Options {
  uint32_t cores = 1;  // of the host
  uint16_t port = 0;   // of core 0
  std::chrono::nanoseconds connect_timeout{0};
  std::chrono::nanoseconds request_timeout{0};  // without progress
};

class Service {
 public:
  // The number of communicators that a core may have until it is closed.
  static constexpr size_t kMostCommunicators = 64;

  explicit Service(const Options& options);
  // stop().
  ~Service();

  // kInvalidArgument for a core that the host does not have, or that is open already.
  Status open(int core);
  // Ends all communicators of the core, their requests and the handles of both. kInvalidArgument
  // for a core that is not open; kBusy while a communicator connects or a request is pending:
  // nothing has changed then.
  Status close(int core);
  Status check_open(int core);

  // Begins to connect a core that is open. kInvalidArgument for an address that is none, or a core
  // that no host has; kResourceExhausted when the core has its most communicators, or the system
  // refuses a thread; kIoError when it refuses the socket. May throw bad_alloc.
  Result<std::shared_ptr<Communicator>> begin(Side side, const char* peer_ip, int peer_core,
                                              int core);

  // Posts a request that was reserved and filled in.
  void post(Request& request) noexcept;
  // Fails the communicator with kDeadlineExceeded when the request has waited too long for
  // progress.
  void give_up_if_overdue(const Request& request);

  // Ends the thread and every connection. Nothing else may be called afterwards.
  void stop() noexcept;

 private:
  struct Link {
    std::shared_ptr<Communicator> communicator;
    std::optional<Dial> dial;  // of a sender that connects
  };
  struct Core {
    std::vector<Link> links;  // in the order in which they were begun
    std::vector<Doorway> doorways;
  };
  class CoreExpectations;

  Status start();
  void run();
  // Requirement of these: mutex_ is held.
  void step(std::span<const epoll_event> ready);
  void step_links(Core& core, std::span<const epoll_event> ready, int64_t now_ns);
  void connect(Core& core, Link& link, int64_t now_ns);
  void serve(Communicator& communicator);
  void step_doorways(Core& core, int64_t now_ns);
  Status open_doorway(Core& core, const Route& route);
  void fail(Communicator& communicator, const Status& why);
  Status watch(Communicator& communicator, Interest now) noexcept;

  const Options options_;
  std::mutex mutex_;
  std::map<int, Core> cores_;  // the open ones
  std::optional<Poller> poller_;
  std::thread thread_;
  bool connecting_ = false;  // some communicator is, so that the thread looks at the clock
  bool stopping_ = false;
};

}  // namespace millrace::nrt::sendrecv
