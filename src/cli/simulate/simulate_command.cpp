// `millrace simulate`: how a device with the times of a profile would do under loads, in virtual
// time.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments/quantity.h"
#include "cli/commands.h"
#include "cli/print_escaped.h"
#include "cli/simulate/load_plot.h"
#include "cli/simulate/simulation.h"
#include "cli/simulate/simulation_report.h"
#include "device/paced/pace_profile.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

using device::PaceProfile;

constexpr double kHighestRate = 1e9;
constexpr double kLongestRun = 1e8;  // seconds of virtual time
constexpr uint64_t kMostInFlight = 1'000'000;

// Returns the items of a list that commas separate.
std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

Status add_rates(const std::string& list, SimulatedLoad load, std::vector<SimulatedLoad>& loads) {
  for (const std::string& item : items_of(list)) {
    const Result<double> rate = parse_number(item);
    if (!rate.ok() || !(*rate > 0 && *rate <= kHighestRate))
      return invalid_argument(
          fmt::format("--qps takes rates per second, as 50,100,200, not \"{}\"", item));
    if (static_cast<double>(load.jobs) / *rate > kLongestRun)
      return invalid_argument(
          fmt::format("{} jobs at {} per second take more than {} s of virtual time", load.jobs,
                      item, kLongestRun));
    load.per_second = *rate;
    loads.push_back(load);
  }
  return {};
}

Status add_in_flight(const std::string& list, SimulatedLoad load,
                     std::vector<SimulatedLoad>& loads) {
  for (const std::string& item : items_of(list)) {
    const Result<uint64_t> count = parse_count(item);
    if (!count.ok() || *count == 0 || *count > kMostInFlight)
      return invalid_argument(
          fmt::format("--in-flight takes numbers of jobs, as 1,2,4, not \"{}\"", item));
    load.in_flight = static_cast<uint32_t>(*count);
    loads.push_back(load);
  }
  return {};
}

Result<std::vector<SimulatedLoad>> loads_of(const SimulateArguments& arguments) {
  SimulatedLoad load;
  load.arrivals = arguments.arrivals == "even" ? Arrivals::kEven : Arrivals::kPoisson;
  load.jobs = arguments.jobs;
  load.seed = arguments.seed;
  std::vector<SimulatedLoad> loads;
  if (!arguments.per_second.empty())
    MILLRACE_RETURN_IF_ERROR(add_rates(arguments.per_second, load, loads));
  if (!arguments.in_flight.empty())
    MILLRACE_RETURN_IF_ERROR(add_in_flight(arguments.in_flight, load, loads));
  if (loads.empty())
    return invalid_argument("state loads: rates of arrivals with --qps, or jobs with --in-flight");
  return loads;
}

// Returns the only model of the profile if the command line names none.
Result<std::string> model_of(const SimulateArguments& arguments, const PaceProfile& profile) {
  std::string names;
  for (const auto& [name, times] : profile.models)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  if (arguments.model.empty()) {
    if (profile.models.size() == 1) return profile.models.begin()->first;
    return invalid_argument(fmt::format("{} has times of {}: choose one with --model",
                                        arguments.profile, names.empty() ? "no model" : names));
  }
  if (profile.times_of(arguments.model) != nullptr) return arguments.model;
  return Status(StatusCode::kNotFound, fmt::format("{} has no times of model \"{}\", only of {}",
                                                   arguments.profile, arguments.model, names));
}

OnFull on_full_of(const std::string& word) {
  if (word == "refuse") return OnFull::kRefuse;
  return word == "drop-oldest" ? OnFull::kDropOldest : OnFull::kBlock;
}

// The lanes are those of the profile, and each has a unit, unless the command line says otherwise.
SimulatedSystem system_of(const SimulateArguments& arguments, const PaceProfile& profile,
                          const std::string& model) {
  SimulatedSystem system{.times = profile.times_of(model),
                         .lanes = arguments.lanes,
                         .units = arguments.units,
                         .depth = arguments.depth,
                         .ranks = arguments.ranks,
                         .on_full = on_full_of(arguments.when_full)};
  if (system.lanes == 0) system.lanes = std::max(profile.lanes, 1U);
  if (system.units == 0) system.units = system.lanes;
  return system;
}

}  // namespace

// A program that keeps jobs in flight has none that could be refused: it waits for one to end.
Status check_simulate(const SimulateArguments& arguments) {
  if (!arguments.in_flight.empty() && arguments.when_full != "block")
    return invalid_argument("--in-flight goes with --when-full block only");
  return loads_of(arguments).status();
}

Status run_simulate(const SimulateArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const PaceProfile profile, PaceProfile::read(arguments.profile));
  MILLRACE_ASSIGN_OR_RETURN(const std::string model, model_of(arguments, profile));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<SimulatedLoad> loads, loads_of(arguments));
  SimulationReport report{.model = model,
                          .device = profile.device,
                          .system = system_of(arguments, profile, model),
                          .lines = {}};
  for (const SimulatedLoad& load : loads)
    report.lines.push_back(line_of(load, simulate(report.system, load)));
  if (!arguments.plot.empty()) {
    const std::string plot = load_plot(report);
    MILLRACE_RETURN_IF_ERROR(io::write_file(arguments.plot, std::as_bytes(std::span(plot))));
  }
  print_escaped_lines(arguments.json ? report_json(report) + "\n" : report_text(report));
  return {};
}

}  // namespace millrace::cli
