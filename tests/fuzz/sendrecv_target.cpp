// Bytes that arrive over a connection between two cores fill the receives that are posted, or fail
// the communicator with a reason; a peer with another greeting than is expected is not admitted.
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <vector>

#include "nrt/sendrecv/communicator.h"
#include "nrt/sendrecv/doorway.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

using namespace nrt::sendrecv;

constexpr Greeting kExpected{.from_core = 1, .to_core = 0};

// Fills receives of 1 to 4,096 bytes, whose sizes are the first bytes of the input.
void receive(Input input) {
  constexpr size_t kReceives = 3;
  if (input.size() < kReceives) return;
  int ends[2];
  expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0,
         "a pair of sockets");
  const UniqueFd stranger(ends[1]);
  Route route;
  route.side = Side::kReceive;
  route.peer = SocketAddress::parse("127.0.0.1", 1).value();
  const auto communicator = std::make_unique<Communicator>(route, 0);
  communicator->connected(UniqueFd(ends[0]));
  std::vector<std::vector<std::byte>> memory;
  for (size_t i = 0; i < kReceives; ++i)
    memory.emplace_back(1 + 16 * std::to_integer<size_t>(input[i]));
  std::vector<Request*> requests;
  for (std::vector<std::byte>& room : memory) {
    Request* const request = communicator->reserve();
    request->data = room.data();
    request->bytes = room.size();
    communicator->post(*request);
    requests.push_back(request);
  }
  input = input.subspan(kReceives);
  // A part at a time, so that heads and bodies are cut anywhere.
  while (!input.empty() && communicator->state() == Communicator::State::kConnected) {
    const Input part = input.first(std::min<size_t>(input.size(), 37));
    if (::send(stranger.get(), part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT) <= 0) break;
    input = input.subspan(part.size());
    const auto progress = communicator->progress();
    if (progress.ok()) continue;
    expect_refusal(progress.status(), {StatusCode::kIoError});
    communicator->fail(progress.status());
  }
  for (Request* const request : requests)
    if (request->done())
      expect(request->result.ok() ? request->moved <= request->bytes
                                  : !request->result.message().empty(),
             "a size or a reason");
}

// The one communicator that waits for a sender.
struct OneSender final : Expectations {
  bool expects(const SocketAddress&) const override { return true; }
  bool admit(const SocketAddress&, const Greeting& greeting, UniqueFd& socket) override {
    ++greetings;
    if (greeting != kExpected) return false;
    const UniqueFd taken = std::move(socket);
    return true;
  }
  int greetings = 0;
};

// A doorway that stays, at a port that was free.
struct Door {
  Door() {
    const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress any = SocketAddress::parse("127.0.0.1", 0).value();
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    expect(::bind(probe.get(), any.get(), any.size()) == 0 &&
               ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0,
           "a port");
    address = std::make_unique<SocketAddress>(bound, size);
  }
  Poller poller = Poller::make().value();
  std::unique_ptr<SocketAddress> address;
};

void greet(Input input) {
  static Door door;
  static Doorway doorway = Doorway::open(*door.address).value();
  doorway.listen(true, door.poller);
  const UniqueFd stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(stranger.get(), door.address->get(), door.address->size()) != 0) return;
  [[maybe_unused]] const ssize_t said =
      ::send(stranger.get(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(stranger.get(), SHUT_WR);
  OneSender sender;
  for (int64_t now = 0; now < 4; ++now) doorway.step(now, door.poller, sender);
  expect(sender.greetings == 0 || input.size() >= sizeof(Greeting), "a whole greeting");
  doorway.step(int64_t{1} << 60, door.poller, sender);  // who is slow has left
}

}  // namespace

void fuzz_one(Input input) {
  if (input.empty()) return;
  const bool greets = std::to_integer<int>(input[0]) % 4 == 0;
  (greets ? greet : receive)(input.subspan(1));
}

}  // namespace millrace::fuzz
