#include "processes.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

bool read_whole(int descriptor, void* bytes, size_t size) {
  for (char* at = bytes; size > 0;) {
    const ssize_t got = read(descriptor, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

bool write_whole(int descriptor, const void* bytes, size_t size) {
  for (const char* at = bytes; size > 0;) {
    const ssize_t written = write(descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

bool await_process(pid_t process, int* status) {
  for (;;) {
    if (waitpid(process, status, 0) > 0) return true;
    if (errno != EINTR) return false;
  }
}
