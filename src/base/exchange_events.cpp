#include "base/exchange_events.h"

#include <atomic>
#include <new>
#include <string>

#include "base/hooks.h"
#include "base/names.h"

namespace millrace {

ExchangeId begin_exchange(std::string_view operation, std::string_view ranks,
                          uint64_t bytes) noexcept {
  static std::atomic<uint32_t> last{0};
  const uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!hooks_observe(number)) return 0;  // an observer that thins out its events goes by it
  NameId name = 0;
  try {
    name = name_id(std::string(operation).append("\n").append(ranks));
  } catch (const std::bad_alloc&) {
    // The exchange has no names.
  }
  const ExchangeId exchange = named_number(name, number);
  emit(HookPoint::kExchangeBegan, exchange, bytes);
  return exchange;
}

void end_exchange(ExchangeId exchange, StatusCode status) noexcept {
  if (exchange != 0) emit(HookPoint::kExchangeEnded, exchange, static_cast<uint64_t>(status));
}

std::pair<std::string, std::string> names_of_exchange(ExchangeId exchange) {
  const std::string names = name_with(name_in(exchange));
  const size_t end = names.find('\n');
  if (end == std::string::npos) return {names, ""};
  return {names.substr(0, end), names.substr(end + 1)};
}

}  // namespace millrace
