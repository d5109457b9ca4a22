#include "xrt/detail/not_emulated.h"

#include <fmt/format.h>

#include <system_error>

namespace xrt::detail {

void not_emulated(const char* what) {
  throw std::system_error(
      std::make_error_code(std::errc::not_supported),
      fmt::format("{} is not emulated: in software there are buffer objects, and kernels of "
                  "programmable logic as functions (xrt::bo, xrt::kernel)",
                  what));
}

}  // namespace xrt::detail
