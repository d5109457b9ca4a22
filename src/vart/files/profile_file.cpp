#include "vart/files/profile_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/clock.h"
#include "graph/precision_name.h"
#include "model/files/output_file.h"
#include "model/files/temporary_output.h"

namespace millrace::vartml {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Returns the name of the model with all characters replaced that are unsuitable for file names.
std::string file_stem(std::string model_name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  std::replace_if(
      model_name.begin(), model_name.end(), [&](unsigned char c) { return !fits(c); }, '_');
  return model_name.empty() ? "model" : model_name;
}

std::string path_of_profile(const std::string& directory, const std::string& model_name) {
  static std::atomic<unsigned> count{0};
  const std::string name =
      fmt::format("{}_profile_{}_{}.json", file_stem(model_name), ::getpid(), ++count);
  return (fs::absolute(directory.empty() ? "." : directory) / name).lexically_normal();
}

Json entry(const char* kind, const runtime::TimeShare& share) {
  return {{"kind", kind},
          {"calls", share.calls},
          {"total_us", to_microseconds(share.total_ns)},
          {"min_us", to_microseconds(share.min_ns)},
          {"max_us", to_microseconds(share.max_ns)}};
}

std::map<std::string, graph::Dims> shapes_in(const graph::Graph& graph) {
  std::map<std::string, graph::Dims> shapes;
  for (const graph::Value& value : graph.values) shapes.emplace(value.name, value.shape);
  return shapes;
}

Json entries(const runtime::ProfileTotals& totals, const device::ProgramInfo& info,
             const graph::Graph& graph) {
  const std::map<std::string, graph::Dims> shapes = shapes_in(graph);
  Json list = Json::array({entry("inputs", totals.inputs)});
  for (size_t i = 0; i < info.steps.size(); ++i) {
    const device::StepInfo& step = info.steps[i];
    Json made = entry("operator", totals.steps[i]);
    made["index"] = i;
    made["node"] = step.node;
    made["operation"] = step.operation;
    made["implementation"] = step.implementation;
    made["output"] = step.output;
    if (const auto shape = shapes.find(step.output); shape != shapes.end())
      made["shape"] = shape->second;
    list.push_back(std::move(made));
  }
  list.push_back(entry("outputs", totals.outputs));
  return list;
}

}  // namespace

ProfileFile::ProfileFile(runtime::LoadedProgram loaded, const std::string& directory)
    : loaded_(std::move(loaded)),
      profile_(std::make_shared<runtime::Profile>(*loaded_.program)),
      path_(path_of_profile(directory, loaded_.program->model().name)) {}

std::string ProfileFile::text() const {
  const runtime::ProfileTotals totals = profile_->totals();
  const device::ProgramInfo info = loaded_.program->info();
  const graph::CompiledModel& model = loaded_.program->model();
  const Json json = {{"model", model.name},
                     {"device", info.device},
                     {"precision", graph::precision_name(model, info.precision)},
                     {"jobs", totals.jobs},
                     {"frames", totals.frames},
                     {"execute_us", to_microseconds(totals.execute_ns)},
                     {"entries", entries(totals, info, model.graph)}};
  // Bytes of a name that are not UTF-8 are replaced rather than refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status ProfileFile::write_file() const {
  MILLRACE_RETURN_IF_ERROR(model::create_directory_of(path_));
  const std::string profile = text();
  return model::write_whole_file(path_, std::as_bytes(std::span(profile)));
}

void ProfileFile::write(const RunnerLog& log) const noexcept {
  try {
    const Status status = write_file();
    if (status.ok())
      log.write(LogLevel::kInfo, fmt::format("the profile is in {}", path_));
    else
      log.write(LogLevel::kError,
                fmt::format("cannot write the profile {}: {}", path_, status.message()));
  } catch (const std::exception&) {
    // Out of memory: the profile is not written.
  }
}

}  // namespace millrace::vartml
