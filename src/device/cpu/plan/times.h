// Times: how long the forms of convolutions take on this processor, and reorders of images from one
// layout to another, by the number of lanes that take part. They come from a record, or are
// measured now if the record lacks them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/cpu/kernels/convolution/implementation.h"
#include "device/cpu/plan/record.h"
#include "device/cpu/steps/crew.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::plan {

// Returns the layout without the element type: "acdb".
std::string layout_name(const Desc& desc);

class Times {
 public:
  virtual ~Times() = default;
  // Returns nothing if the convolution is not known. The list is empty if it has only a kernel that
  // exists for completeness, so that there is no choice.
  virtual std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                           uint32_t lanes) = 0;
  // Returns the candidate for a 1x1 convolution and the depthwise one that follows as one step
  // (kSeparable), or nothing if it is not known. Requirement: separable::partner_of() has found
  // them.
  virtual std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                        const kernels::Convolution& depthwise, uint32_t lanes) = 0;
  // Returns the nanoseconds of a reorder, or nothing if they are not known.
  virtual std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                                       const std::string& to, uint32_t lanes) = 0;
};

// `record` must outlive the object.
class RecordedTimes final : public Times {
 public:
  explicit RecordedTimes(const Record& record) : record_(record) {}
  std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                   uint32_t lanes) override;
  std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                const kernels::Convolution& depthwise, uint32_t lanes) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to, uint32_t lanes) override;
  // Names what the record lacks of the times that were needed, for messages; empty if it has all.
  const std::string& missing() const noexcept { return missing_; }

 private:
  // Returns null, and notes that the times are missing, if there are none.
  const std::vector<Candidate>* find(const std::string& key, uint32_t lanes);
  const LaneTimes* of(uint32_t lanes) const;
  void note_missing(std::string_view what, uint32_t lanes);

  const Record& record_;
  std::string missing_;
};

// Measures what the record does not have, on the calling thread and on threads that help it as the
// lanes do, and adds it. The thread is in no OpenMpThreads scope. May throw what guarded() catches.
class MeasuredTimes final : public Times {
 public:
  MeasuredTimes(Record& record, const dnnl::engine& engine)
      : record_(record), engine_(engine), stream_(engine) {}
  std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                   uint32_t lanes) override;
  std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                const kernels::Convolution& depthwise, uint32_t lanes) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to, uint32_t lanes) override;

 private:
  using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;
  // A candidate without its time, and the kernel that computes it.
  struct Untimed {
    Candidate candidate;
    std::variant<PrimitiveDesc, const kernels::PlannedKernel*> kernel;
  };
  // Returns all candidates. Keeps their layouts, for move().
  std::vector<Untimed> enumerate(const kernels::Convolution& convolution);
  void add_primitive(const kernels::Convolution& convolution, Form form,
                     std::vector<Untimed>& found);
  void add_kernel(const kernels::Convolution& convolution, const kernels::PlannedKernel& kernel,
                  std::vector<Untimed>& found);
  uint64_t time(const kernels::Convolution& convolution, const Untimed& untimed);
  uint64_t time_reorder(const Desc& from, const Desc& to) const;
  std::optional<Desc> desc_of(const std::string& layout, const Dims& dims, ElementType type) const;

  Record& record_;
  const dnnl::engine engine_;
  const dnnl::stream stream_;
  Crew crew_;
  const Stopwatch stopwatch_{engine_, stream_, crew_};
  std::map<std::string, Desc> layouts_;  // a tensor of each layout, by its name
};

}  // namespace millrace::device::cpu::plan
