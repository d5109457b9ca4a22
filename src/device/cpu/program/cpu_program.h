// CpuProgram: the steps of a model, their buffers and the packed weights. Immutable and
// thread-safe; contexts keep it alive.
#pragma once

#include <memory>
#include <string>

#include "device/cpu/builder/builder.h"
#include "device/cpu/ranks/collective_thread.h"
#include "device/cpu/ranks/membership.h"
#include "device/device.h"

namespace millrace::device::cpu {

// The types that the processor computes with native instructions, and its lanes.
struct Abilities {
  bool bf16 = false;
  bool int8 = false;   // exact sums of products of 8-bit integers
  uint32_t lanes = 1;  // number of lanes that may take part in one job
};

class CpuProgram final : public Program, public std::enable_shared_from_this<CpuProgram> {
 public:
  // BF16 models that cannot be computed in BF16 here are computed in FP32, and info() says so.
  // Blocks while kernels are made and weights packed, the latter on idle lanes of `lanes`, too.
  // Weights are shared with the programs whose packed weights are in `store`.
  // Collectives run on `communicator`, which may be null.
  static Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model, const dnnl::engine& engine,
      const Abilities& abilities, queue::Lanes& lanes, PackedStore& store,
      std::shared_ptr<ranks::Communicator> communicator = nullptr);
  ~CpuProgram() override;

  const graph::CompiledModel& model() const noexcept override { return *model_; }
  bool accepts(Direction direction, size_t index, View view) const noexcept override;
  Result<std::unique_ptr<Context>> create_context() const override;
  ProgramInfo info() const override;
  bool is_of_rank() const noexcept override { return ranks_.communicator() != nullptr; }
  void skip_job() const noexcept override { ranks_.skip(); }

  RankMembership& ranks() const noexcept { return ranks_; }
  // The thread that runs the collectives that are begun, or null if the program has none.
  CollectiveThread* collectives() const noexcept { return collectives_.get(); }
  const ProgramParts& parts() const noexcept { return parts_; }
  const dnnl::engine& engine() const noexcept { return engine_; }

 private:
  CpuProgram(std::shared_ptr<const graph::CompiledModel> model, dnnl::engine engine,
             graph::Precision precision, std::string note, ProgramParts parts,
             std::shared_ptr<ranks::Communicator> communicator,
             std::unique_ptr<CollectiveThread> collectives)
      : model_(std::move(model)),
        engine_(std::move(engine)),
        precision_(precision),
        note_(std::move(note)),
        parts_(std::move(parts)),
        ranks_(std::move(communicator)),
        collectives_(std::move(collectives)) {}

  const std::shared_ptr<const graph::CompiledModel> model_;
  const dnnl::engine engine_;
  const graph::Precision precision_;
  const std::string note_;
  const ProgramParts parts_;
  mutable RankMembership ranks_;
  std::unique_ptr<CollectiveThread> collectives_;
};

}  // namespace millrace::device::cpu
