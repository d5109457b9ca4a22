#include "serve/http/message.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace millrace::serve {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

}  // namespace

std::optional<std::string_view> HttpRequest::field(std::string_view name) const {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (const auto& [own, value] : fields)
    if (std::ranges::equal(own, name, same)) return value;
  return std::nullopt;
}

HttpResponse error_response(unsigned status, std::string_view message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

}  // namespace millrace::serve
