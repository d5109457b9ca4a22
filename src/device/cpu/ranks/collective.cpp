#include "device/cpu/ranks/collective.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/cancellation.h"
#include "base/contained.h"
#include "device/cpu/builder/operands.h"
#include "fallback/axis.h"
#include "fallback/node_view.h"
#include "graph/collective.h"
#include "graph/shape.h"
#include "queue/requests/run_control.h"
#include "ranks/communicator.h"

namespace millrace::device::cpu {
namespace {

using graph::Collective;
using ranks::Communicator;
using ranks::Limit;

// Lets a job that is cancelled or late leave a collective.
class JobStop final : public ranks::StopCheck {
 public:
  explicit JobStop(const queue::RunControl& control) noexcept : control_(control) {}
  bool stop_requested() noexcept override { return control_.stop_requested(); }

 private:
  const queue::RunControl& control_;
};

// One collective over memory of the program: the bytes of the operand of this rank.
class CollectiveStep : public Step {
 public:
  CollectiveStep(std::shared_ptr<Communicator> communicator, BufferId from, BufferId to,
                 size_t bytes)
      : communicator_(std::move(communicator)), from_(from), to_(to), bytes_(bytes) {}

  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  bool waits_for_ranks() const noexcept override { return true; }

  // Waits for the other ranks.
  Status run(const RunState& state) const noexcept override {
    const CancellationOff whole;
    JobStop stop(state.control);
    const Status status = contained([&] { return exchange(state, {.stop = &stop}); });
    return !status.ok() && state.control.stop_requested() ? state.control.stop_status() : status;
  }

 protected:
  virtual Status exchange(const RunState& state, const Limit& limit) const = 0;

  Communicator& communicator() const noexcept { return *communicator_; }
  size_t bytes() const noexcept { return bytes_; }
  std::span<const std::byte> input(const RunState& state) const noexcept {
    return {state.input<std::byte>(from_), bytes_};
  }
  std::byte* output(const RunState& state) const noexcept { return state.output<std::byte>(to_); }

 private:
  const std::shared_ptr<Communicator> communicator_;
  const BufferId from_, to_;
  const size_t bytes_;
};

class AllReduceStep final : public CollectiveStep {
 public:
  AllReduceStep(std::shared_ptr<Communicator> communicator, BufferId from, BufferId to,
                size_t bytes, ranks::Element element)
      : CollectiveStep(std::move(communicator), from, to, bytes), element_(element) {}

 private:
  Status exchange(const RunState& state, const Limit& limit) const override {
    return communicator().all_reduce(input(state), {output(state), bytes()}, element_,
                                     ranks::Reduction::kSum, limit);
  }

  const ranks::Element element_;
};

// Joins the operands along an axis. What the ranks sent is contiguous by rank, so that it is put
// between what the others sent unless the axis is the first one with several indices.
class AllGatherStep final : public CollectiveStep {
 public:
  // `lines` stretches of each operand, one for each index before the axis; `gathered` has room for
  // what all ranks send, and is the output itself where there is one line.
  AllGatherStep(std::shared_ptr<Communicator> communicator, BufferId from, BufferId to,
                size_t bytes, BufferId gathered, size_t lines)
      : CollectiveStep(std::move(communicator), from, to, bytes),
        gathered_(gathered),
        lines_(lines) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = CollectiveStep::buffers();
    ids.push_back(gathered_);
    return ids;
  }

 private:
  Status exchange(const RunState& state, const Limit& limit) const override {
    std::byte* const gathered = state.output<std::byte>(gathered_);
    const uint32_t ranks = communicator().size();
    MILLRACE_RETURN_IF_ERROR(
        communicator().all_gather(input(state), {gathered, bytes(), ranks}, limit));
    if (lines_ == 1) return {};
    const size_t line = bytes() / lines_;
    std::byte* to = output(state);
    for (size_t i = 0; i < lines_; ++i)
      for (uint32_t rank = 0; rank < ranks; ++rank, to += line)
        std::memcpy(to, gathered + rank * bytes() + i * line, line);
    return {};
  }

  const BufferId gathered_;
  const size_t lines_;
};

class AllToAllStep final : public CollectiveStep {
 public:
  using CollectiveStep::CollectiveStep;

 private:
  Status exchange(const RunState& state, const Limit& limit) const override {
    const uint32_t ranks = communicator().size();
    const size_t block = bytes() / ranks;
    return communicator().all_to_all({input(state).data(), block, ranks},
                                     {output(state), block, ranks}, limit);
  }
};

class BroadcastStep final : public CollectiveStep {
 public:
  BroadcastStep(std::shared_ptr<Communicator> communicator, BufferId from, BufferId to,
                size_t bytes, uint32_t root)
      : CollectiveStep(std::move(communicator), from, to, bytes), root_(root) {}

 private:
  Status exchange(const RunState& state, const Limit& limit) const override {
    std::memcpy(output(state), input(state).data(), bytes());
    return communicator().broadcast({output(state), bytes()}, root_, limit);
  }

  const uint32_t root_;
};

// The number of ranks that must take part; none where any number may.
std::optional<int64_t> group_of(const fallback::NodeView& node, Collective collective) {
  if (graph::takes_any_ranks(collective) && !node.has_attribute("group_size")) return std::nullopt;
  return node.integer("group_size", 1);
}

Status check_group(std::optional<int64_t> group, const Communicator* communicator) {
  if (communicator == nullptr)
    return invalid_argument(
        fmt::format("{} ranks compute it together: load the model with their communicator "
                    "(at the NRT face nrt_load_collectives)",
                    group ? fmt::to_string(*group) : std::string("all")));
  if (group.value_or(communicator->size()) == communicator->size()) return {};
  return invalid_argument(
      fmt::format("it is for {} ranks, but the communicator has {}", *group, communicator->size()));
}

using StepPointer = std::unique_ptr<const Step>;

// The step between `from` and `to`, which are plain.
Result<StepPointer> make_step(Builder& builder, const fallback::NodeView& node,
                              Collective collective, BufferId from, const Operand& to,
                              size_t bytes) {
  const std::shared_ptr<Communicator>& communicator = builder.communicator();
  switch (collective) {
    case Collective::kAllReduce: {
      MILLRACE_ASSIGN_OR_RETURN(const ranks::Element element, ranks::element_of(node.in(0).type));
      return StepPointer(
          std::make_unique<AllReduceStep>(communicator, from, to.buffer, bytes, element));
    }
    case Collective::kAllGather: {
      MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                                graph::normalise_axis(node.integer("axis", 1), node.in(0).rank()));
      const size_t lines = fallback::AxisSplit(node.in(0).dims, axis).outer;
      const BufferId gathered = lines == 1 ? to.buffer : builder.new_temporary(to.desc).buffer;
      return StepPointer(
          std::make_unique<AllGatherStep>(communicator, from, to.buffer, bytes, gathered, lines));
    }
    case Collective::kAllToAll:
      return StepPointer(std::make_unique<AllToAllStep>(communicator, from, to.buffer, bytes));
    case Collective::kBroadcast: {
      const int64_t root = node.integer("root", 0);
      if (root >= communicator->size())
        return invalid_argument(fmt::format("its root is rank {}, but the communicator has {}",
                                            root, communicator->size()));
      return StepPointer(std::make_unique<BroadcastStep>(communicator, from, to.buffer, bytes,
                                                         static_cast<uint32_t>(root)));
    }
  }
  return internal_error("a collective without a step");
}

}  // namespace

Result<bool> lower_collective(Builder& builder, const graph::Node& node,
                              const graph::Fallback& op) {
  const auto operands = operand_views(builder, node);
  const fallback::NodeView view(op, operands);
  const Collective collective = *graph::collective_of(op);
  const std::optional<int64_t> group = group_of(view, collective);
  if (group == 1) return false;
  MILLRACE_RETURN_IF_ERROR(check_group(group, builder.communicator().get()));
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, plain_operand(builder, node.inputs[0]));
  const graph::ValueId result = node.outputs[0];
  const Operand to = plain_result(builder, result);
  MILLRACE_ASSIGN_OR_RETURN(StepPointer step, make_step(builder, view, collective, from.buffer, to,
                                                        from.desc.get_size()));
  builder.add(op.name, "millrace:collective", std::move(step));
  finish_result(builder, result, to);
  return true;
}

}  // namespace millrace::device::cpu
