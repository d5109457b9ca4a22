#include "vision/preprocess/preprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/float_environment.h"
#include "vision/preprocess/resampler.h"

namespace millrace::vision {
namespace {

Status check_finite(const char* name, std::span<const float> values) {
  if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return {};
  return invalid_argument(fmt::format("the {} of a normalisation is not a finite number", name));
}

Status check(const Normalisation& normalisation) {
  MILLRACE_RETURN_IF_ERROR(check_finite("mean", normalisation.mean));
  MILLRACE_RETURN_IF_ERROR(check_finite("scale", normalisation.scale));
  return check_finite("factor", {&normalisation.factor, 1});
}

// Computes the rows [first, last) of `region`. The pixels outside `content` are black.
void make_rows(const ResamplePlan& plan, const Region& content, const Region& region,
               RowStore& store, uint32_t first, uint32_t last) {
  Resampler resampler(plan);
  RowBuffer<float> row(kLanes * region.width);
  const size_t left = kLanes * (content.x - region.x), right = left + kLanes * content.width;
  for (uint32_t y = first; y < last; ++y) {
    std::fill(row.data(), row.data() + left, 0.0f);
    const uint32_t inside = region.y + y - content.y;  // wraps to a large number above the content
    if (inside < content.height)
      resampler.make_row(inside, row.data() + left);
    else
      std::fill(row.data() + left, row.data() + right, 0.0f);
    std::fill(row.data() + right, row.data() + kLanes * region.width, 0.0f);
    store.store(y, row.data());
  }
}

}  // namespace

void run_serially(const RowWork& work) {
  work.task(0, work.rows);
}

Result<Geometry> preprocess(const SourcePicture& source, const Region& input_region,
                            const TargetPicture& target, const Region& output_region,
                            const PreprocessOptions& options, const RowRunner& run) {
  MILLRACE_RETURN_IF_ERROR(check_source(source, input_region));
  MILLRACE_RETURN_IF_ERROR(check_target(target, output_region));
  MILLRACE_RETURN_IF_ERROR(check(options.normalisation));
  const DefaultFloatEnvironment floats;
  const Placement placement = place(options.fit, input_region, output_region);
  const Region& content = placement.content;
  const ResamplePlan plan(source, placement, options.filter);
  const RowTask task = [&](uint32_t first, uint32_t last) {
    const DefaultFloatEnvironment floats_here;  // the task may run on another thread
    RowStore store(target, output_region, options.normalisation,
                   SourceRows::rgb_lanes(source.format));
    make_rows(plan, content, output_region, store, first, last);
  };
  run({output_region.height, plan.samples(), task});
  return geometry_of(placement);
}

}  // namespace millrace::vision
