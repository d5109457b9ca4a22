// NetworkRun: one run of a network, which is that of a model or of a subgraph inside it. It runs
// the network stage by stage: each plan is looked up, or made, for the values that are then known,
// its program is run, and then the nodes that run by themselves.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "queue/requests/run_control.h"
#include "runtime/dynamic/control_flow.h"
#include "runtime/dynamic/plan_cache.h"
#include "runtime/dynamic/run_value.h"
#include "runtime/dynamic/stage_context.h"

namespace millrace::runtime {

// The resources that all runs on one lane share. Not thread-safe, except for `plans`, which all
// lanes share.
struct LaneResources {
  PlanCache& plans;
  StageContexts contexts;
};

class NetworkRun final : public EnclosingRun {
 public:
  // `around` is the run whose network contains this one as a subgraph; null for a model. All
  // arguments must outlive this run.
  NetworkRun(LaneResources& lane, const network::Network& network, NetworkRun* around,
             queue::RunControl& control)
      : lane_(lane), network_(network), around_(around), control_(control) {}
  NetworkRun(const NetworkRun&) = delete;
  NetworkRun& operator=(const NetworkRun&) = delete;

  // Sets the value of an input.
  void set(const std::string& name, RunValue value) { values_[name] = std::move(value); }
  // Provides memory into which the value with this name is computed, if it fits.
  void place(const std::string& name, std::span<std::byte> memory) { places_[name] = memory; }

  // Computes all outputs. Fails with the errors of the operators, and with the control's
  // stop_status() if a stop is requested, between two stages, iterations or operators. May throw
  // std::bad_alloc.
  Status run();

  // Returns the value with this name, of this network or an enclosing one.
  Result<RunValue> value(const std::string& name) override;

  Result<std::vector<RunValue>> run_subgraph(const network::Network& body,
                                             std::span<const RunValue> inputs) override;
  int opset() const override;

 private:
  const RunValue* find(const std::string& name);
  Result<lowering::Known> known(const std::string& name);
  Result<std::shared_ptr<const Plan>> next_plan(const std::shared_ptr<const Plan>& after);
  Status run_stage(const std::shared_ptr<const Plan>& plan);
  Status run_program(const std::shared_ptr<const Plan>& plan);
  Status run_alone(const network::Node& node);
  Result<std::vector<RunValue>> compute_alone(const network::Node& node);
  Result<std::vector<RunValue>> compute_fallback(const network::Node& node);
  Result<RunValue> make_output(const std::string& name, tensor::DataType type, graph::Dims shape);

  LaneResources& lane_;
  const network::Network& network_;
  NetworkRun* const around_;
  queue::RunControl& control_;
  std::unordered_map<std::string, RunValue> values_;  // including the initializers used so far
  std::unordered_map<std::string, std::span<std::byte>> places_;
};

}  // namespace millrace::runtime
