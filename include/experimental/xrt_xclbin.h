// Programs for programmable logic. A stand-in for the header of the board's runtime; see
// xrt/xrt_bo.h. C++17 and later.
#ifndef EXPERIMENTAL_XRT_XCLBIN_H
#define EXPERIMENTAL_XRT_XCLBIN_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "xrt/xrt_uuid.h"

#pragma GCC visibility push(default)

namespace xrt {

// A file for programmable logic. Its content is not read but for its identifier: the kernels are
// the software kernels that this process has (millrace/pl_kernel.h). Immutable, and thread-safe.
class xclbin {
 public:
  // One argument of a kernel.
  class arg {
   public:
    arg(std::string name, std::string host_type, std::size_t index, std::size_t size)
        : name_(std::move(name)), host_type_(std::move(host_type)), index_(index), size_(size) {}
    std::string get_name() const { return name_; }
    std::string get_host_type() const { return host_type_; }  // such as "unsigned int*"
    std::size_t get_index() const { return index_; }
    std::size_t get_size() const { return size_; }  // bytes that are passed

   private:
    std::string name_;
    std::string host_type_;
    std::size_t index_;
    std::size_t size_;
  };

  class kernel {
   public:
    kernel(std::string name, std::vector<arg> args)
        : name_(std::move(name)), args_(std::move(args)) {}
    std::string get_name() const { return name_; }
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
  explicit xclbin(const std::vector<char>& data);

  // The same for the same content.
  uuid get_uuid() const { return uuid_; }
  // std::runtime_error where the library of software kernels cannot be used.
  std::vector<kernel> get_kernels() const;
  // std::invalid_argument when there is none of that name.
  kernel get_kernel(const std::string& name) const;

  explicit operator bool() const { return static_cast<bool>(uuid_); }

 private:
  uuid uuid_;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // EXPERIMENTAL_XRT_XCLBIN_H
