// Model: what is done with a picture for one model, and the buffers that this needs.
//
//   picture --preprocess--> input ==fd== IFM --submit, collect--> OFM ==fd== memory
//   memory --postprocess--> results --draw--> picture
//
// "==fd==" is one piece of memory under two names: the second is made from a file descriptor of the
// first, so that nothing is copied between the stages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "busy_time.hpp"
#include "config.hpp"
#include "places.hpp"
#include "vart/vart_device.hpp"
#include "vart/vart_inferresult.hpp"
#include "vart/vart_memory.hpp"
#include "vart/vart_metaconvert.hpp"
#include "vart/vart_overlay.hpp"
#include "vart/vart_postprocess.hpp"
#include "vart/vart_preprocess.hpp"
#include "vart/vart_runner_factory.hpp"
#include "vart/vart_videoframe.hpp"
#include "vart_x_common/tensor_formats.hpp"

// The objects of one frame at one model; used again for later frames.
struct ModelFrame {
  std::unique_ptr<vart::VideoFrame> input;
  std::vector<std::vector<vart::NpuTensor>> inputs, outputs;  // a batch of one
  std::vector<std::vector<std::shared_ptr<vart::Memory>>> memories;
  vart::PreProcessTypeMeta geometry;           // of the input in the picture
  std::optional<vart::JobHandle> job;          // under way
  std::shared_ptr<vart::InferResult> results;  // ROOT, with a child for each result
};

// Each of the functions that do something with a frame may be called by a thread of its own, for
// another frame. All but collect throw exceptions derived from std::exception.
class Model {
 public:
  // At most `most_jobs` are under way at once; the time in which there is one counts as
  // `inference`, which outlives the model.
  Model(const ModelConfig& config, const std::shared_ptr<vart::Device>& device, unsigned most_jobs,
        BusyTime& inference);

  ModelFrame make_frame();

  void preprocess(vart::VideoFrame& picture, ModelFrame& frame);
  // Returns as soon as the job is accepted; waits while most_jobs are under way.
  void submit(ModelFrame& frame);
  // Waits for the job of submit; an empty text, or why it failed. Nothing without a job.
  std::string collect(ModelFrame& frame);
  // Coordinates of the results are those of the picture.
  void postprocess(const vart::VideoInfo& picture, ModelFrame& frame);
  // Draws the results as metaconvert-config says.
  void draw(vart::VideoFrame& picture, ModelFrame& frame);
  bool draws() const { return metaconvert_.has_value(); }

  // Waits until no job is under way and none of them is counted any more.
  void finish() { places_.wait_for_all(); }

 private:
  void configure_preprocess(const PreprocessConfig& config);
  void configure_postprocess(const PostprocessConfig& config);

  std::shared_ptr<vart::Device> device_;
  BusyTime& inference_;
  Places places_;
  std::optional<vart::PreProcess> preprocess_;
  std::optional<vart::PostProcess> postprocess_;
  std::optional<vart::MetaConvert> metaconvert_;
  vart::Overlay overlay_;
  vart::NpuTensorInfo input_;
  std::vector<vart::NpuTensorInfo> outputs_;
  // Last, so that it is destroyed first: the callbacks that are left use the members above.
  std::shared_ptr<vart::Runner> runner_;
};
