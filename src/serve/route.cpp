#include "serve/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace millrace::serve {
namespace {

using Parts = std::vector<std::string>;

std::optional<unsigned> hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return std::nullopt;
}

// Decodes %41 to A. What is no such code stays as it is.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    decoded += low ? static_cast<char>(*high * 16 + *low) : text[i];
    if (low) i += 2;
  }
  return decoded;
}

// Returns the parts of the path between slashes, decoded, without the query.
Parts parts_of(std::string_view target) {
  target = target.substr(0, target.find('?'));
  Parts parts;
  while (!target.empty()) {
    target.remove_prefix(target.front() == '/' ? 1 : 0);
    const size_t end = std::min(target.find('/'), target.size());
    if (end > 0) parts.push_back(percent_decoded(target.substr(0, end)));
    target.remove_prefix(end);
  }
  return parts;
}

// Marks a call of an extension that is not offered.
void route_elsewhere(std::string_view extension, Route& route) {
  route.what = Route::What::kNotOffered;
  route.missing = fmt::format("the extension \"{}\" is not offered here", extension);
}

// The extension that a call of a model belongs to, of those that are not offered; empty: none.
std::string_view extension_of_model_call(std::string_view call) {
  if (call == "config") return "model_configuration";
  if (call == "trace") return "trace";
  if (call == "generate" || call == "generate_stream") return "generate";
  return {};
}

std::string_view extension_of_server_call(std::string_view call) {
  if (call == "trace") return "trace";
  if (call == "logging") return "logging";
  if (call == "cudasharedmemory") return "cuda_shared_memory";
  return {};
}

// v2/models/NAME[/versions/VERSION][/ready|/infer|/stats]
void route_model(const ModelRepository& models, const Parts& parts, Route& route) {
  ModelRepository::Models versions = models.versions_of(parts[2]);
  if (versions.empty()) {
    route.missing = fmt::format("there is no model \"{}\"", parts[2]);
    return;
  }
  for (const auto& version : versions) route.versions.push_back(version->version());
  size_t next = 3;
  if (parts.size() > 4 && parts[3] == "versions") {
    std::erase_if(versions, [&](const auto& own) { return own->version() != parts[4]; });
    if (versions.empty()) {
      route.missing = fmt::format("the model \"{}\" has no version \"{}\"", parts[2], parts[4]);
      return;
    }
    next = 5;
  }
  const std::string_view call = parts.size() > next ? parts[next] : std::string_view();
  if (const auto extension = extension_of_model_call(call); !extension.empty())
    return route_elsewhere(extension, route);
  if (parts.size() > next + 1) return;
  if (call.empty()) route.what = Route::What::kModel;
  if (call == "ready") route.what = Route::What::kModelReady;
  if (call == "infer") route.what = Route::What::kInfer;
  if (call == "stats") route.what = Route::What::kStatistics;
  if (route.what != Route::What::kNothing) route.model = versions.back();
}

// v2/repository/index, and v2/repository/models/NAME/load or /unload
void route_repository(const Parts& parts, Route& route) {
  if (parts.size() == 3 && parts[2] == "index") route.what = Route::What::kIndex;
  if (parts.size() != 5 || parts[2] != "models") return;
  route.name = parts[3];
  if (parts[4] == "load") route.what = Route::What::kLoad;
  if (parts[4] == "unload") route.what = Route::What::kUnload;
}

// v2/systemsharedmemory[/region/NAME]/status|/register|/unregister
void route_region(const Parts& parts, Route& route) {
  if (parts.size() != 3 && (parts.size() != 5 || parts[2] != "region")) return;
  if (parts.size() == 5) route.name = parts[3];
  const std::string_view call = parts.back();
  if (call == "status") route.what = Route::What::kRegions;
  if (call == "register" && parts.size() == 5) route.what = Route::What::kRegister;
  if (call == "unregister") route.what = Route::What::kUnregister;
}

}  // namespace

std::string_view Route::method() const {
  switch (what) {
    case What::kInfer:
    case What::kIndex:
    case What::kLoad:
    case What::kUnload:
    case What::kRegister:
    case What::kUnregister:
      return "POST";
    default:
      return "GET";
  }
}

Route route_of(const ModelRepository& models, std::string_view target) {
  const Parts parts = parts_of(target);
  Route route;
  route.missing = fmt::format("there is no \"{}\" here", target);
  const auto is = [&](std::initializer_list<std::string_view> path) {
    return std::ranges::equal(parts, path);
  };
  if (is({"metrics"})) route.what = Route::What::kMetrics;
  if (is({"v2"})) route.what = Route::What::kServer;
  if (is({"v2", "health", "live"})) route.what = Route::What::kLive;
  if (is({"v2", "health", "ready"})) route.what = Route::What::kReady;
  // A model may have that name; it has its own statistics.
  if (is({"v2", "models", "stats"}) && !models.find("stats")) route.what = Route::What::kStatistics;
  if (route.what != Route::What::kNothing || parts.size() < 2 || parts[0] != "v2") return route;
  if (const auto extension = extension_of_server_call(parts[1]); !extension.empty())
    route_elsewhere(extension, route);
  if (parts.size() < 3) return route;
  if (parts[1] == "models") route_model(models, parts, route);
  if (parts[1] == "repository") route_repository(parts, route);
  if (parts[1] == "systemsharedmemory") route_region(parts, route);
  return route;
}

}  // namespace millrace::serve
