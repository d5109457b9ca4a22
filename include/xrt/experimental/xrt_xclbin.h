// Programs for programmable logic. A stand-in for the header of the board's runtime; see
// xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_XCLBIN_H
#define XRT_EXPERIMENTAL_XRT_XCLBIN_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

// A file for programmable logic. Its content is not read but for its identifier: the kernels are
// the software kernels that this process has (millrace/pl_kernel.h), each with one compute unit.
// Immutable, and thread-safe.
class xclbin {
 public:
  enum class target_type { hw, sw_emu, hw_emu };

  // A bank of memory. Banks have no address and no limit here.
  class mem {
   public:
    // The kinds of banks there can be, with the numbers of XRT's file format.
    enum class memory_type : uint8_t {
      ddr3 = 0,
      ddr4 = 1,
      dram = 2,
      streaming = 3,
      preallocated_global = 4,
      are = 5,
      hbm = 6,
      bram = 7,
      uram = 8,
      streaming_connection = 9,
      host = 10
    };

    mem() = default;
    explicit mem(int32_t index) : index_(index) {}
    std::string get_tag() const { return "DDR" + std::to_string(index_); }
    uint64_t get_base_address() const { return UINT64_MAX; }  // as of a bank without an address
    uint64_t get_size_kb() const { return UINT64_MAX; }       // as of a bank of unknown size
    bool get_used() const { return true; }
    memory_type get_type() const { return memory_type::dram; }
    int32_t get_index() const { return index_; }  // the group for an xrt::bo

   private:
    int32_t index_ = 0;
  };

  // One argument of a kernel.
  class arg {
   public:
    arg() = default;
    arg(std::string name, std::string host_type, std::size_t index, std::size_t size,
        std::vector<mem> mems)
        : name_(std::move(name)),
          host_type_(std::move(host_type)),
          index_(index),
          size_(size),
          mems_(std::move(mems)) {}
    std::string get_name() const { return name_; }
    std::string get_host_type() const { return host_type_; }  // such as "unsigned int*"
    std::size_t get_index() const { return index_; }
    uint64_t get_size() const { return size_; }          // bytes that are passed
    std::vector<mem> get_mems() const { return mems_; }  // one for a buffer, none for a number
    std::string get_port() const { return name_; }       // a port of its own
    uint64_t get_offset() const { return 8 * index_; }   // as if registers had 8 bytes

   private:
    std::string name_;
    std::string host_type_;
    std::size_t index_ = 0;
    std::size_t size_ = 0;
    std::vector<mem> mems_;
  };

  // A compute unit.
  class ip {
   public:
    enum class control_type : uint8_t { hs = 0, chain = 1, none = 2, fa = 5 };

    ip() = default;
    ip(std::string name, std::vector<arg> args) : name_(std::move(name)), args_(std::move(args)) {}
    std::string get_name() const { return name_; }  // such as "scale:scale_1"
    control_type get_control_type() const { return control_type::hs; }
    std::size_t get_num_args() const { return args_.size(); }
    std::vector<arg> get_args() const { return args_; }
    arg get_arg(int32_t index) const { return args_.at(static_cast<std::size_t>(index)); }
    uint64_t get_base_address() const { return UINT64_MAX; }  // as of a unit without registers
    std::size_t get_size() const { return 0; }                // of its registers

   private:
    std::string name_;
    std::vector<arg> args_;
  };

  class kernel {
   public:
    enum class kernel_type : uint8_t { none = 0, pl = 1, ps = 2, dpu = 3 };

    kernel() = default;
    kernel(std::string name, std::vector<arg> args)
        : name_(std::move(name)), args_(std::move(args)) {}
    std::string get_name() const { return name_; }
    kernel_type get_type() const { return kernel_type::pl; }
    std::vector<ip> get_cus() const { return {ip(name_ + ":" + name_ + "_1", args_)}; }
    std::size_t get_num_args() const { return args_.size(); }
    std::vector<arg> get_args() const { return args_; }
    arg get_arg(int32_t index) const { return args_.at(static_cast<std::size_t>(index)); }

   private:
    std::string name_;
    std::vector<arg> args_;
  };

  xclbin() = default;
  // std::runtime_error when the file cannot be read.
  explicit xclbin(const std::string& filename);
  explicit xclbin(const char* filename) : xclbin(std::string(filename)) {}
  explicit xclbin(const std::vector<char>& data);
  explicit xclbin(const std::string_view& data);

  // Returns a UUID that equal contents share.
  uuid get_uuid() const { return uuid_; }
  // Throws std::runtime_error if the shared library with software kernels cannot be loaded.
  std::vector<kernel> get_kernels() const;
  // std::invalid_argument when there is none of that name.
  kernel get_kernel(const std::string& name) const;
  // The compute units of all kernels, and the banks of their buffers. They throw as get_kernels
  // does.
  std::vector<ip> get_ips() const;
  std::vector<mem> get_mems() const;
  // "millrace": the platform that the file is for is not read.
  std::string get_xsa_name() const { return "millrace"; }
  target_type get_target_type() const { return target_type::hw; }

  explicit operator bool() const { return static_cast<bool>(uuid_); }

 private:
  uuid uuid_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_XCLBIN_H
