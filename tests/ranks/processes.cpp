#include "tests/ranks/processes.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace millrace::ranks {

// A socket that is bound and does not listen keeps the port: only a socket that says that addresses
// may be used again, as that of a rendezvous does, can be bound to it, too.
MeetingPlace::MeetingPlace() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  text_ = "127.0.0.1:" + std::to_string(port_);
}

MeetingPlace::~MeetingPlace() {
  close(socket_);
}

std::vector<int> run_processes(uint32_t ranks, const std::function<void(uint32_t)>& body) {
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a process that hangs, and with it the test
      body(rank);
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    statuses.push_back(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
  }
  return statuses;
}

}  // namespace millrace::ranks
