// Helps tests that act as another user of the machine, which requires root.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>

namespace millrace::test {

inline constexpr uid_t kAnotherUser = 65534;  // nobody

// Gives a file or folder, or a link itself, to another user. False where this process may not.
inline bool give_to_another_user(const std::string& path) {
  return ::geteuid() == 0 && ::lchown(path.c_str(), kAnotherUser, kAnotherUser) == 0;
}

enum class Node { kNull, kZero, kFull };

// Makes a character device, as /dev has it. False where this process may not, or where the folder
// is on a file system without devices.
inline bool make_device(const std::string& path, Node node) {
  constexpr unsigned kMemory = 1;
  const unsigned minor = node == Node::kNull ? 3 : node == Node::kZero ? 5 : 7;
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(kMemory, minor)) != 0) return false;
  const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened >= 0) ::close(opened);
  return opened >= 0;
}

inline bool is_device(const std::string& path) {
  struct stat entry {};
  return ::lstat(path.c_str(), &entry) == 0 && S_ISCHR(entry.st_mode);
}

}  // namespace millrace::test
