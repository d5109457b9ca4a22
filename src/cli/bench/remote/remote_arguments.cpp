#include "cli/bench/remote/remote_arguments.h"

#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

using nlohmann::json;

// Calls visit(key, member) for each of the arguments.
template <class Arguments, class Visit>
void visit_all(Arguments& arguments, Visit visit) {
  visit("url", arguments.url);
  visit("models", arguments.models);
  visit("tls_ca", arguments.tls_ca);
  visit("retries", arguments.retries);
  visit("shapes", arguments.shapes);
  visit("scenario", arguments.scenario);
  visit("lanes", arguments.lanes);
  visit("in_flight", arguments.in_flight);
  visit("iterations", arguments.iterations);
  visit("duration_seconds", arguments.duration_seconds);
  visit("queries_per_second", arguments.queries_per_second);
  visit("json", arguments.json);
  visit("inputs", arguments.inputs);
  visit("mean", arguments.picture.mean);
  visit("scale", arguments.picture.scale);
  visit("deviation", arguments.picture.deviation);
  visit("normalise", arguments.picture.normalise);
  visit("order", arguments.picture.order);
  visit("resize", arguments.picture.resize);
  visit("short_side", arguments.picture.short_side);
}

}  // namespace

std::string text_of_arguments(const BenchArguments& arguments) {
  json text;
  visit_all(arguments, [&](const char* key, const auto& member) { text[key] = member; });
  if (arguments.seed) text["seed"] = *arguments.seed;
  return text.dump(-1, ' ', true, json::error_handler_t::replace);
}

Result<BenchArguments> arguments_of_text(const std::string& text) {
  BenchArguments arguments;
  try {
    const json object = json::parse(text);
    visit_all(arguments, [&](const char* key, auto& member) { object.at(key).get_to(member); });
    if (object.contains("seed")) arguments.seed = object.at("seed").get<uint64_t>();
  } catch (const json::exception&) {
    return invalid_argument("the program is started by `millrace bench --url` only");
  }
  return arguments;
}

}  // namespace millrace::cli
