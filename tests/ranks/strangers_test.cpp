// Unauthenticated peers connect to the ports of a rank process. Whatever they do, also while the
// rank is stopped, it continues, and meets its rank.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/unique_fd.h"
#include "ranks/connect.h"
#include "ranks/rendezvous/messages.h"
#include "tests/ranks/processes.h"

namespace millrace::ranks {
namespace {

constexpr std::chrono::seconds kLong(50);

// Meets the other ranks and calls a barrier with them.
void meet_and_leave(const std::string& place, uint32_t rank, uint32_t ranks) {
  const auto own = connect({.place = place,
                            .rank = rank,
                            .ranks = ranks,
                            .token = "a secret of this test",
                            .limit = {std::chrono::steady_clock::now() + kLong, nullptr}},
                           kLong);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_TRUE((*own)->barrier({}).ok());
  (*own)->leave(kLong);
}

// Returns the inodes of the sockets of a process.
std::set<std::string> sockets_of(pid_t process) {
  std::set<std::string> inodes;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string target = std::filesystem::read_symlink(entry, error).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

// Returns the ports of the loopback interface on which a process listens.
std::vector<uint16_t> ports_of(pid_t process) {
  const std::set<std::string> own = sockets_of(process);
  std::ifstream table("/proc/net/tcp");
  std::vector<uint16_t> ports;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string number, local, remote, state, field, inode;
    fields >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) fields >> field;
    fields >> inode;
    if (state == "0A" && own.contains(inode))
      ports.push_back(
          static_cast<uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
  }
  return ports;
}

UniqueFd connect_to_port(uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // The queue of a rank that is stopped may be full.
  const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected =
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return connected == 0 ? std::move(socket) : UniqueFd();
}

void say(const UniqueFd& socket, std::span<const std::byte> bytes) {
  if (socket) [[maybe_unused]]
    const ssize_t sent =
        ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void reset(UniqueFd socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

// The attacks of unauthenticated peers at a port; they return the sockets that they keep open.
std::vector<UniqueFd> reset_two(uint16_t port) {
  for (int i = 0; i < 2; ++i) reset(connect_to_port(port));
  return {};
}

std::vector<UniqueFd> scan(uint16_t port) {
  for (int i = 0; i < 100; ++i) connect_to_port(port);
  return {};
}

std::vector<UniqueFd> stay_silent(uint16_t port) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(connect_to_port(port));
  return silent;
}

std::vector<UniqueFd> say_junk(uint16_t port) {
  std::vector<UniqueFd> open;
  for (const int byte : {0x00, 0x41, 0xff}) {
    open.push_back(connect_to_port(port));
    say(open.back(), std::vector<std::byte>(100'000, std::byte(byte)));
  }
  return open;
}

// Sends the same messages as rank 1, but without the secret.
std::vector<UniqueFd> guess(uint16_t port) {
  std::vector<UniqueFd> open;
  for (int i = 0; i < 3; ++i) {
    open.push_back(connect_to_port(port));
    const JoinHead join{.rank = 1, .ranks = 2};
    const LinkHead link{.from = 1, .to = 0};
    if (i % 2 == 0) say(open.back(), std::as_bytes(std::span(&join, 1)));
    if (i != 0) say(open.back(), std::as_bytes(std::span(&link, 1)));
  }
  return open;
}

// A process that is one of two ranks.
class RankProcess {
 public:
  RankProcess(const std::string& place, uint32_t rank) : id_(fork()) {
    if (id_ != 0) return;
    alarm(60);
    meet_and_leave(place, rank, 2);
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  // Returns the ports at which rank 0 waits for the other rank.
  std::vector<uint16_t> await_ports() const {
    std::vector<uint16_t> ports;
    while (ports.size() < 2 && waitpid(id_, nullptr, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ports = ports_of(id_);
    }
    return ports;
  }
  void stop() const {
    kill(id_, SIGSTOP);
    waitpid(id_, nullptr, WUNTRACED);
  }
  void go_on() const { kill(id_, SIGCONT); }
  // Returns its exit status, or the negative number of the signal that ended it.
  int end() const {
    int status = 0;
    if (waitpid(id_, &status, 0) != id_) return -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  const pid_t id_;
};

struct Visit {
  const char* name;
  std::vector<UniqueFd> (*attack)(uint16_t port);
};

class RankStrangers : public ::testing::TestWithParam<std::tuple<Visit, bool>> {};

TEST_P(RankStrangers, ChangeNothing) {
  const auto& [visit, while_stopped] = GetParam();
  const MeetingPlace place;
  const RankProcess host(place.text(), 0);
  const std::vector<uint16_t> ports = host.await_ports();
  if (while_stopped) host.stop();
  std::vector<UniqueFd> open;
  for (const uint16_t port : ports) std::ranges::move(visit.attack(port), std::back_inserter(open));
  if (while_stopped) host.go_on();
  const RankProcess guest(place.text(), 1);
  EXPECT_EQ(host.end(), 0);
  EXPECT_EQ(guest.end(), 0);
}

constexpr Visit kVisits[] = {{"ResetTwo", reset_two},
                             {"Scan", scan},
                             {"StaySilent", stay_silent},
                             {"SayJunk", say_junk},
                             {"Guess", guess}};

INSTANTIATE_TEST_SUITE_P(Each, RankStrangers,
                         testing::Combine(testing::ValuesIn(kVisits), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "WhileItIsStopped" : "WhileItWaits");
                         });

}  // namespace
}  // namespace millrace::ranks
