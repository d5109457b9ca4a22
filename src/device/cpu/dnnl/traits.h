// Traits of an implementation of oneDNN that its name tells ("brgconv:avx512_core_vnni",
// "jit:avx2"): the name is all that oneDNN says about one. No other file reads these names.
// Thread-safe.
#pragma once

#include <string_view>

namespace millrace::device::cpu {

// True for the slow implementations that exist for completeness only.
bool is_reference(std::string_view implementation) noexcept;

// Returns whether the threads of a primitive with this name never wait for each other; also false
// for a name that is not known. The names of our own steps ("millrace:...") are known.
bool may_be_divided(std::string_view implementation) noexcept;

// Whether it computes by products of small matrices in batches (brgemm), and whether by those of a
// diagonal matrix (brdgmm), as depthwise convolutions do.
bool is_brgemm(std::string_view implementation) noexcept;
bool is_brdgmm(std::string_view implementation) noexcept;

// Whether it computes by tiles, the registers of matrices (AMX).
bool uses_tiles(std::string_view implementation) noexcept;

// Whether it is for pointwise (1x1) convolutions only.
bool is_pointwise_only(std::string_view implementation) noexcept;

// Whether products of bytes are added exactly, by VNNI or AMX. Others saturate sums of two products
// at 16 bits.
bool adds_bytes_exactly(std::string_view implementation) noexcept;

}  // namespace millrace::device::cpu
