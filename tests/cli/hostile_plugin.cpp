// A plugin that does what no device may, as soon as it is loaded.
#include <sys/socket.h>

#include <cstdlib>

namespace {

struct Hostile {
  Hostile() {
#ifdef MILLRACE_HOSTILE_CRASH
    std::abort();
#else
    ::socket(AF_INET, SOCK_STREAM, 0);
#endif
  }
} const hostile;

}  // namespace
