// The texts of the tables, from the files beside this one (texts.cpp.in).
#pragma once

#include <string_view>

namespace millrace::device::cpu::plan::texts {

extern const std::string_view kAvx2, kAvx512, kAvx512Bf16, kAmx;

}  // namespace millrace::device::cpu::plan::texts
