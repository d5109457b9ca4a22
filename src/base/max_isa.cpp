#include "base/max_isa.h"

#include <fmt/format.h>
#include <strings.h>

#include <string>
#include <utility>

#include "base/settings/environment.h"

namespace millrace {

Result<MaxIsa> max_isa() {
  constexpr const char* kVariable = "MILLRACE_MAX_ISA";
  constexpr std::pair<const char*, MaxIsa> kNames[] = {{"avx2", MaxIsa::kAvx2},
                                                       {"avx512", MaxIsa::kAvx512},
                                                       {"avx512_vnni", MaxIsa::kAvx512Vnni},
                                                       {"avx512_bf16", MaxIsa::kAvx512Bf16},
                                                       {"amx", MaxIsa::kAmx}};
  const std::string text(environment_variable(kVariable));
  if (text.empty()) return MaxIsa::kAmx;
  for (const auto& [name, isa] : kNames)
    if (strcasecmp(text.c_str(), name) == 0) return isa;
  return invalid_argument(fmt::format(
      "{} is \"{}\": it takes avx2, avx512, avx512_vnni, avx512_bf16 or amx", kVariable, text));
}

}  // namespace millrace
