#include "serve/http/message.h"

#include <algorithm>
#include <new>
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

size_t body_size(const HttpResponse& response) {
  size_t bytes = response.text.size();
  for (const auto& part : response.raw) bytes += part.size();
  return bytes;
}

HttpResponse error_response(unsigned status, std::string_view message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

HttpResponse response_of(const std::exception& error) noexcept {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  const unsigned status = no_memory ? 503 : 500;
  try {
    return error_response(status, no_memory ? "there is not enough memory" : error.what());
  } catch (const std::exception&) {
    return {.status = status, .content_type = {}};
  }
}

}  // namespace millrace::serve
