// Events of the exchanges of data between ranks: collective operations, sends and receives
// (HookPoint::kExchangeBegan). Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace millrace {

// Identifies an exchange in events: a number, and the name of a text of two lines, which are those
// of names_of_exchange(). 0: it is not observed.
using ExchangeId = uint64_t;

// Emits the beginning of an exchange, and returns its id; 0 if there is no observer. `operation` is
// a text such as "all_reduce", `ranks` says between whom, such as "rank 1 of 0, 1, 2, 3". Neither
// has a line break. `bytes` is the size of the data that this side passes to the operation.
ExchangeId begin_exchange(std::string_view operation, std::string_view ranks,
                          uint64_t bytes) noexcept;
// Emits the end of an exchange, on any thread; nothing for an id of 0.
void end_exchange(ExchangeId exchange, StatusCode status) noexcept;

// Returns the operation and the ranks of an exchange.
std::pair<std::string, std::string> names_of_exchange(ExchangeId exchange);

}  // namespace millrace
