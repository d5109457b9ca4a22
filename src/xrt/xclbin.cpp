// xrt::xclbin: identifies the file by its contents, which are not parsed. Its kernels are the
// software kernels that pl::list_kernels() finds.
#include "xrt/experimental/xrt_xclbin.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>

#include "base/value_or_throw.h"
#include "pl/kernel_library.h"

namespace xrt {
namespace {

std::vector<char> read_file(const std::string& filename) {
  std::ifstream file(filename, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad())
    throw std::runtime_error(fmt::format("xrt::xclbin: \"{}\" cannot be read", filename));
  return bytes;
}

// Returns a UUID for the contents of a file: a hash, and the size plus 1, which makes it non-null.
uuid identify(std::string_view data) {
  const uint64_t halves[] = {std::hash<std::string_view>{}(data), uint64_t{data.size()} + 1};
  std::array<unsigned char, 16> bytes;
  std::memcpy(bytes.data(), halves, bytes.size());
  return uuid(bytes);
}

xclbin::kernel describe(const millrace_pl_kernel& kernel) {
  std::vector<xclbin::arg> args;
  for (const auto& each : std::span(kernel.arguments, kernel.argument_count)) {
    std::vector<xclbin::mem> mems;
    if (each.kind != MILLRACE_PL_SCALAR) mems.emplace_back(static_cast<int32_t>(each.memory_bank));
    args.emplace_back(each.name, each.type, args.size(), each.size, std::move(mems));
  }
  return {kernel.name, std::move(args)};
}

}  // namespace

xclbin::xclbin(const std::string& filename) : xclbin(read_file(filename)) {}
xclbin::xclbin(const std::vector<char>& data)
    : xclbin(std::string_view(data.data(), data.size())) {}
xclbin::xclbin(const std::string_view& data) : uuid_(identify(data)) {}

std::vector<xclbin::kernel> xclbin::get_kernels() const {
  std::vector<kernel> kernels;
  for (const auto* each : millrace::value_or_throw(millrace::pl::list_kernels(), "xrt::xclbin"))
    kernels.push_back(describe(*each));
  return kernels;
}

xclbin::kernel xclbin::get_kernel(const std::string& name) const {
  return describe(*millrace::value_or_throw(millrace::pl::find_kernel(name), "xrt::xclbin"));
}

std::vector<xclbin::ip> xclbin::get_ips() const {
  std::vector<ip> units;
  for (const kernel& each : get_kernels())
    for (ip& unit : each.get_cus()) units.push_back(std::move(unit));
  return units;
}

std::vector<xclbin::mem> xclbin::get_mems() const {
  std::map<int32_t, mem> banks;
  for (const kernel& each : get_kernels())
    for (const arg& argument : each.get_args())
      for (const mem& bank : argument.get_mems()) banks.emplace(bank.get_index(), bank);
  std::vector<mem> mems;
  for (const auto& [index, bank] : banks) mems.push_back(bank);
  return mems;
}

}  // namespace xrt
