#include "serve/file_watch.h"

#include <sys/stat.h>

#include <new>
#include <utility>

#include "base/process/thread.h"

namespace millrace::serve {

FileWatch::FileWatch(std::vector<std::string> paths, std::chrono::milliseconds period,
                     std::function<bool()> on_change)
    : paths_(std::move(paths)),
      period_(period),
      on_change_(std::move(on_change)),
      last_(states()) {}

Result<std::unique_ptr<FileWatch>> FileWatch::start(std::vector<std::string> paths,
                                                    std::chrono::milliseconds period,
                                                    std::function<bool()> on_change) {
  std::unique_ptr<FileWatch> watch(new FileWatch(std::move(paths), period, std::move(on_change)));
  MILLRACE_ASSIGN_OR_RETURN(watch->thread_,
                            start_thread("millrace-files", [own = watch.get()] { own->run(); }));
  return watch;
}

FileWatch::~FileWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<FileWatch::State> FileWatch::states() const {
  std::vector<State> all;
  for (const std::string& path : paths_) {
    State& state = all.emplace_back();
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) continue;
    state = {.device = file.st_dev,
             .inode = file.st_ino,
             .bytes = file.st_size,
             .seconds = file.st_mtim.tv_sec,
             .nanoseconds = file.st_mtim.tv_nsec};
  }
  return all;
}

bool FileWatch::has_changed() noexcept {
  try {
    std::vector<State> now = states();
    last_.swap(now);
    return last_ != now;
  } catch (const std::bad_alloc&) {
    return false;  // There may be memory the next time.
  }
}

void FileWatch::run() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, period_, [this] { return ended_; })) {
    const bool changed = has_changed();
    if (!changed && !failed_) continue;
    lock.unlock();
    failed_ = !on_change_();
    lock.lock();
  }
}

}  // namespace millrace::serve
