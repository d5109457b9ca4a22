// NetworkRun: one run of a network, stage by stage: of the model, or of a subgraph inside it.
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

// The resources that all runs on one lane share. Used by one thread at a time.
struct LaneResources {
  PlanCache& plans;
  StageContexts contexts;
};

class NetworkRun final : public EnclosingRun {
 public:
  // `around`: the run whose network has this one as a subgraph; null for a model. All that is
  // referred to outlives this run.
  NetworkRun(LaneResources& lane, const network::Network& network, NetworkRun* around,
             queue::RunControl& control)
      : lane_(lane), network_(network), around_(around), control_(control) {}
  NetworkRun(const NetworkRun&) = delete;
  NetworkRun& operator=(const NetworkRun&) = delete;

  // Gives an input its value.
  void set(const std::string& name, RunValue value) { values_[name] = std::move(value); }
  // Memory that the value of this name is computed into, if it fits.
  void place(const std::string& name, std::span<std::byte> memory) { places_[name] = memory; }

  // Computes all outputs. Errors are those of the operators; the stop_status() of the control when
  // it asks for a stop, between two stages, iterations or operators. May throw std::bad_alloc.
  Status run();

  // A value that this network or one around it has, by its name here.
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
  std::unordered_map<std::string, RunValue> values_;  // initializers from first use on
  std::unordered_map<std::string, std::span<std::byte>> places_;
};

}  // namespace millrace::runtime
