// Whether an execution has produced a NaN, for programs under test (MILLRACE_NRT_NAN_CHECK).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/status.h"
#include "nrt/binding.h"
#include "nrt/nrt.h"

namespace millrace::nrt {

// The first element that is a NaN; none for types that have no NaN.
std::optional<size_t> find_nan(nrt_dtype_t type, std::span<const std::byte> bytes);

// kCorruptData names the output and the element of the first NaN in what was written.
Status check_for_nan(const Binding& binding);

}  // namespace millrace::nrt
