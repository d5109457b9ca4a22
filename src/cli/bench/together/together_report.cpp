#include "cli/bench/together/together_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/bench/report_parts.h"
#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using TogetherJson = nlohmann::ordered_json;

std::string short_name(const BenchSubject& subject) {
  return std::filesystem::path(subject.model).filename().string();
}

std::string arrivals_of(const SweepRun& run) {
  return run.per_second > 0 ? rate_text(run.per_second) : "-";
}

std::string model_line(const ModelRun& model, size_t width) {
  const SweepRun& run = model.run;
  return fmt::format("{:<{}}  {:>8}  {:>9}  {:>9}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}\n",
                     short_name(model.subject), width, model.priority, arrivals_of(run),
                     run.in_flight, run.jobs, rate_text(run.frames_per_second),
                     ms_text(run.latency_ms.median), ms_text(run.latency_ms.p99),
                     ms_text(run.latency_ms.max));
}

// Says in which form each model ran, which the table has no room for.
std::string models_text(const TogetherReport& report) {
  std::string text;
  for (const ModelRun& model : report.models) {
    const BenchSubject& subject = model.subject;
    text += fmt::format("model       {} ({}, batch {}, {} view); load {}\n", subject.model,
                        subject.precision, subject.batch, subject.view, ms_text(subject.load_ms));
    if (!subject.note.empty()) text += fmt::format("note        {}\n", subject.note);
  }
  const BenchSubject& last = report.models.back().subject;
  return text + fmt::format("device      {}, {} lanes\n", last.device, last.lanes);
}

TogetherJson model_json(const ModelRun& model) {
  const BenchSubject& subject = model.subject;
  TogetherJson json = {{"model", subject.model},
                       {"precision", subject.precision},
                       {"batch", subject.batch},
                       {"view", subject.view},
                       {"load_ms", subject.load_ms},
                       {"priority", model.priority},
                       {"scenario", name_of(model.run.scenario)},
                       {"in_flight", model.run.in_flight},
                       {"jobs", model.run.jobs},
                       {"seconds", model.run.seconds},
                       {"frames_per_second", model.run.frames_per_second},
                       {"latency_ms", distribution_json(model.run.latency_ms)}};
  if (model.run.per_second > 0) json["queries_per_second"] = model.run.per_second;
  if (!subject.note.empty()) json["note"] = subject.note;
  return json;
}

// Returns a field of comma-separated values (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string(2, c) : std::string(1, c);
  return field + '"';
}

}  // namespace

uint64_t TogetherReport::jobs() const {
  uint64_t sum = 0;
  for (const ModelRun& model : models) sum += model.run.jobs;
  return sum;
}

double TogetherReport::frames_per_second() const {
  double sum = 0;
  for (const ModelRun& model : models) sum += model.run.frames_per_second;
  return sum;
}

std::string report_text(const TogetherReport& report) {
  size_t width = 5;
  for (const ModelRun& model : report.models)
    width = std::max(width, short_name(model.subject).size());
  std::string text = models_text(report) + "\n" +
                     fmt::format(
                         "{:<{}}  priority   arrivals  in flight      jobs   frames/s     "
                         "median        p99        max\n",
                         "model", width);
  for (const ModelRun& model : report.models) text += model_line(model, width);
  return text +
         fmt::format("{:<{}}  {:>8}  {:>9}  {:>9}  {:>8}  {:>9}\n", "sum", width, "", "", "",
                     report.jobs(), rate_text(report.frames_per_second())) +
         fmt::format("processor   {:.2f} cores busy, for {:.2f} s\n", report.busy_cores,
                     report.seconds);
}

std::string report_json(const TogetherReport& report) {
  const BenchSubject& last = report.models.back().subject;
  TogetherJson json = {{"device", last.device},
                       {"lanes", last.lanes},
                       {"version", last.version},
                       {"processor", last.processor},
                       {"peak_memory_bytes", last.peak_memory_bytes}};
  if (last.interrupted) json["interrupted"] = true;
  json["models"] = TogetherJson::array();
  for (const ModelRun& model : report.models) json["models"].push_back(model_json(model));
  json["jobs"] = report.jobs();
  json["frames_per_second"] = report.frames_per_second();
  json["seconds"] = report.seconds;
  json["busy_cores"] = report.busy_cores;
  return json_line(json);
}

std::string together_csv(const TogetherReport& report) {
  std::string text =
      "model,priority,queries_per_second,in_flight,jobs,seconds,frames_per_second,min_ms,median_ms,"
      "p90_ms,p95_ms,p99_ms,p99_9_ms,max_ms,mean_ms,spread_ms\n";
  for (const ModelRun& model : report.models) {
    const SweepRun& run = model.run;
    const Distribution& times = run.latency_ms;
    text +=
        fmt::format("{},{},{},{},{},{:.6g},{:.6g}", csv_field(model.subject.model), model.priority,
                    run.per_second > 0 ? fmt::format("{:.6g}", run.per_second) : "", run.in_flight,
                    run.jobs, run.seconds, run.frames_per_second);
    for (const double time : {times.min, times.median, times.p90, times.p95, times.p99, times.p99_9,
                              times.max, times.mean, times.spread})
      text += fmt::format(",{:.6g}", time);
    text += '\n';
  }
  return text;
}

}  // namespace millrace::cli
