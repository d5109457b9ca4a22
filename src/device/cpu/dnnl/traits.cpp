#include "device/cpu/dnnl/traits.h"

#include <algorithm>

namespace millrace::device::cpu {
namespace {

bool names(std::string_view implementation, std::string_view part) noexcept {
  return implementation.find(part) != std::string_view::npos;
}

// "gemm:jit", "igemm_s8u8s32:jit": these threads copy a matrix together before they use it.
// "brgemm:avx512_core" is not one of them.
bool is_product_of_copies(std::string_view implementation) noexcept {
  constexpr std::string_view kProduct = "gemm", kBatched = "brgemm";
  for (size_t at = implementation.find(kProduct); at != std::string_view::npos;
       at = implementation.find(kProduct, at + 1))
    if (at < 2 || !implementation.substr(at - 2).starts_with(kBatched)) return true;
  return false;
}

// In batch normalisations of plain layouts, threads wait before the last group of channels, and
// when they compute statistics.
bool is_plain_batch_normalisation(std::string_view implementation) noexcept {
  return implementation.starts_with("ncsp_bnorm") || implementation.starts_with("nspc_bnorm");
}

// Known names begin with one of these. All primitives of 2.6 and 3.7 have such a name, and in
// inference only those above have barriers. A primitive with a name that another version adds is
// not divided. The names of our own steps begin with the last of these.
bool is_known(std::string_view implementation) noexcept {
  constexpr std::string_view kKnown[] = {"jit",   "brg", "brdgmm",    "simple", "ref", "bnorm",
                                         "lnorm", "lrn", "reduction", "prelu",  "x64", "millrace"};
  return std::ranges::any_of(
      kKnown, [&](std::string_view known) { return implementation.starts_with(known); });
}

}  // namespace

bool may_be_divided(std::string_view implementation) noexcept {
  return is_known(implementation) && !is_product_of_copies(implementation) &&
         !is_plain_batch_normalisation(implementation);
}

bool is_reference(std::string_view implementation) noexcept {
  return names(implementation, "ref");
}

bool is_brgemm(std::string_view implementation) noexcept {
  return names(implementation, "brg");
}

bool is_brdgmm(std::string_view implementation) noexcept {
  return names(implementation, "brdgmm");
}

bool uses_tiles(std::string_view implementation) noexcept {
  return names(implementation, "amx");
}

bool is_pointwise_only(std::string_view implementation) noexcept {
  return names(implementation, "1x1");
}

bool adds_bytes_exactly(std::string_view implementation) noexcept {
  return names(implementation, "vnni") || uses_tiles(implementation);
}

}  // namespace millrace::device::cpu
