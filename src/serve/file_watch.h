// FileWatch: calls a function soon after one of some files has changed: it was written, or another
// file or link took its place. One thread looks at them again and again, which finds changes behind
// symbolic links and on network file systems, too. A call that fails is repeated at the next look,
// since what failed may have been memory or the file system and not the files.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

namespace millrace::serve {

class FileWatch {
 public:
  // The function is called on the thread of the watch, must not throw, and returns whether it has
  // succeeded. kResourceExhausted if the system refuses the thread.
  static Result<std::unique_ptr<FileWatch>> start(std::vector<std::string> paths,
                                                  std::chrono::milliseconds period,
                                                  std::function<bool()> on_change);
  ~FileWatch();  // waits for a call of the function

 private:
  // Tells one state of a file from another. All is 0 if there is no file.
  struct State {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t bytes = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const State&) const = default;
  };

  FileWatch(std::vector<std::string> paths, std::chrono::milliseconds period,
            std::function<bool()> on_change);
  std::vector<State> states() const;
  bool has_changed() noexcept;
  void run();

  const std::vector<std::string> paths_;
  const std::chrono::milliseconds period_;
  const std::function<bool()> on_change_;
  std::vector<State> last_;
  bool failed_ = false;  // whether the last call has
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace millrace::serve
