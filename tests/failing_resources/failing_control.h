// FailingControl: the functions of libmillrace_failing.so, if it is loaded. Thread-safe.
#pragma once

#include <dlfcn.h>

#include "tests/failing_resources/failing_library.h"

namespace millrace::test {

struct FailingControl {
  decltype(&millrace_failing_start) start = find<decltype(start)>("millrace_failing_start");
  decltype(&millrace_failing_stop) stop = find<decltype(stop)>("millrace_failing_stop");
  decltype(&millrace_failing_failed) failed = find<decltype(failed)>("millrace_failing_failed");
  decltype(&millrace_failing_spare) spare = find<decltype(spare)>("millrace_failing_spare");

  bool is_loaded() const noexcept { return start != nullptr; }

 private:
  template <class Function>
  static Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
};

// While it lives, no call of this thread fails: for what a test does itself.
class Spared {
 public:
  explicit Spared(const FailingControl& control) : control_(control) { spare(true); }
  ~Spared() { spare(false); }
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;

 private:
  void spare(bool spared) const {
    if (control_.is_loaded()) control_.spare(spared);
  }
  const FailingControl& control_;
};

}  // namespace millrace::test
