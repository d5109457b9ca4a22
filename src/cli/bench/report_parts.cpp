#include "cli/bench/report_parts.h"

#include <fmt/format.h>

#include "cli/report/numbers.h"

namespace millrace::cli {

std::string subject_text(const BenchSubject& subject) {
  std::string text = fmt::format("model       {} ({}, batch {}, {} view)\n", subject.model,
                                 subject.precision, subject.batch, subject.view);
  if (!subject.note.empty()) text += fmt::format("note        {}\n", subject.note);
  return text + fmt::format("device      {}, {} lanes; load {}\n", subject.device, subject.lanes,
                            ms_text(subject.load_ms));
}

nlohmann::ordered_json subject_json(const BenchSubject& subject) {
  nlohmann::ordered_json json = {
      {"model", subject.model},         {"precision", subject.precision},
      {"batch", subject.batch},         {"view", subject.view},
      {"device", subject.device},       {"lanes", subject.lanes},
      {"load_ms", subject.load_ms},     {"version", subject.version},
      {"processor", subject.processor}, {"peak_memory_bytes", subject.peak_memory_bytes}};
  if (subject.interrupted) json["interrupted"] = true;
  if (!subject.note.empty()) json["note"] = subject.note;
  return json;
}

std::string ideal_text(const ServerFigures& server, double p99_ms, std::string_view services) {
  return fmt::format(
      "ideal queue p99 {}: first come, first served, {} servers, {} (median {}); ours is {:.2f} "
      "times that\n",
      ms_text(server.ideal_p99_ms), server.servers, services, ms_text(server.service_ms),
      p99_ms / server.ideal_p99_ms);
}

nlohmann::ordered_json server_json(const ServerFigures& server) {
  return {{"queries_per_second", server.per_second},
          {"seed", server.seed},
          {"servers", server.servers},
          {"service_ms", server.service_ms},
          {"ideal_p99_ms", server.ideal_p99_ms}};
}

std::string ms_text(double milliseconds) {
  return time_text(milliseconds * 1e6);
}

std::string rate_text(double per_second) {
  constexpr double kSmall = 100;
  return per_second < kSmall ? fmt::format("{:.4g}", per_second)
                             : fmt::format("{:.1f}", per_second);
}

nlohmann::ordered_json distribution_json(const Distribution& times) {
  return {{"min", times.min}, {"median", times.median}, {"p90", times.p90},
          {"p95", times.p95}, {"p99", times.p99},       {"p99_9", times.p99_9},
          {"max", times.max}, {"mean", times.mean},     {"spread", times.spread}};
}

}  // namespace millrace::cli
