// VART-X kernels: functions in programmable logic; here, functions in software of the same name.
//
// One kernel is built in: pass_through(in_r, out_r, size) copies `size` beats of 64 bytes (or of
// MILLRACE_PL_BEAT_BYTES; 32-bit words, with a warning, where only those fit). Others, or one that
// replaces it, come from a shared library in the form of millrace/pl_kernel.h.
//
// Sources: the published VART-X documentation and sample programs of the release after 6.2. Defines
// no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_PLKERNEL_HPP
#define VART_VART_PLKERNEL_HPP

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "vart/vart_device.hpp"
#include "vart/vart_plkernel_types.hpp"

namespace vart {
class PLKernelImplBase;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// A handle to one kernel; copies share it. To be used from one thread at a time. The last copy
// waits for a run that has not ended, since a kernel cannot be stopped.
class PLKernel {
 public:
  PLKernel() = delete;

  // The kernel `name`, which may be followed by its compute units ("scale:{scale_1}"). `json` is
  // empty or an object, in which "kernel-library" names the shared library that has the kernel;
  // without this key the environment variable MILLRACE_PL_KERNELS does. std::invalid_argument where
  // no kernel has that name, std::runtime_error where the library cannot be used.
  PLKernel(PLKernelImplType type, const std::string& name, std::string& json,
           std::shared_ptr<Device> device);
  explicit PLKernel(std::shared_ptr<PLKernelImplBase> impl);

  // Starts the kernel on a thread of the library and returns; wait() tells how it ended. Takes the
  // kernel's arguments in order: buffers as pointers or integers made from
  // Memory::get_physical_addr(), scalars by value. A run that has not ended is waited for first.
  // The memory must not be used by others before the run has ended; it is kept alive until then.
  // std::invalid_argument, and nothing was started, for a wrong number of arguments, and for an
  // address in no live memory; std::runtime_error when no thread can be started.
  template <class... Args>
  void process(Args&&... args) {
    start({bits_of(args)...});
  }

  // Waits for the run that was started last, for at most `timeout_ms` milliseconds; 0 means as long
  // as it takes. 0: it succeeded; 1: it failed, and the log says why; 2: it has not ended yet; 3:
  // nothing was started.
  int wait(unsigned timeout_ms);

  // No kernel of this library can be configured: throws std::invalid_argument.
  template <class T>
  void set_config(T& config) {
    write_config(typeid(T), &config);
  }
  // Fills a std::vector<ArgumentInfo>, one entry per argument; std::invalid_argument for other
  // types.
  template <class T>
  void get_config(T& config) {
    read_config(typeid(T), &config);
  }

  const std::shared_ptr<PLKernelImplBase>& get_pimpl_handle() const;

 private:
  template <class T>
  static uint64_t bits_of(const T& value) {
    static_assert(std::is_scalar_v<T> && sizeof(T) <= sizeof(uint64_t),
                  "a kernel takes numbers and device addresses");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  void start(const std::vector<uint64_t>& arguments);
  void write_config(const std::type_info& type, const void* config);
  void read_config(const std::type_info& type, void* config);

  std::shared_ptr<PLKernelImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_PLKERNEL_HPP
