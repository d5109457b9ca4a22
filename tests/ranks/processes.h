// Ranks that are processes of this machine, and a place for them to meet.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace millrace::ranks {

// A port of the loopback interface that nobody else is given while this object lives.
class MeetingPlace {
 public:
  MeetingPlace();
  ~MeetingPlace();
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;

  // "127.0.0.1:PORT".
  const std::string& text() const { return text_; }
  int port() const { return port_; }

 private:
  int socket_ = -1;
  int port_ = 0;
  std::string text_;
};

// Runs body(rank) in a child process for each rank, and returns their exit statuses, by rank: 0
// when the body returned without a failed expectation, 1 when it did not, and the negative number
// of the signal that ended the process. Every process ends within a minute.
std::vector<int> run_processes(uint32_t ranks, const std::function<void(uint32_t)>& body);

}  // namespace millrace::ranks
