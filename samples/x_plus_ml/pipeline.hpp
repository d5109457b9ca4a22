// Pipeline: the stages that frames pass, each on a thread of its own.
//
//   read --> preprocess --> inference --> postprocess --> output
//
// Between two stages is a bounded queue, so every stage works on another frame at the same time,
// and frames keep their order. Inference hands a frame on as soon as its jobs are accepted;
// postprocess waits for them. The frames go around: output gives them back to read.
//
// A frame that fails in a stage passes the others as it is. Nothing else fails with it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bounded_queue.hpp"
#include "busy_time.hpp"
#include "config.hpp"
#include "model.hpp"
#include "sources/input.hpp"
#include "sources/picture.hpp"

enum Stage : std::size_t { kRead, kPreprocess, kInference, kPostprocess, kOutput, kStages };

struct Frame {
  explicit Frame(const std::shared_ptr<vart::Device>& device) : picture(device) {}

  std::size_t number = 0;  // in the order of the input, from 0
  std::string name;        // of the file that it is from
  std::string failure;     // why it has no results; empty: it has
  PictureBuffer picture;
  std::vector<ModelFrame> models;
};

struct RunReport {
  std::size_t frames = 0;
  std::size_t failed = 0;
  double milliseconds = 0;                          // from the first frame to the last
  std::array<double, kStages> busy_milliseconds{};  // of each stage, in all
};

// To be used by one thread at a time. Functions throw exceptions derived from std::exception.
class Pipeline {
 public:
  explicit Pipeline(const AppConfig& config);

  // The stage output: gets each frame that has results, in order, on one thread.
  using Deliver = std::function<void(Frame&)>;

  // Takes all frames of the input through the stages. Says on standard error why a frame failed.
  RunReport run(Input& input, const Deliver& deliver);

  // Returns the time, in milliseconds, that read, preprocess, inference or postprocess takes for
  // `frames` frames while no other stage works. Requirements: every frame of the pipeline was used
  // in a run in which none failed, and `input` has so many frames.
  double run_alone(Stage stage, std::size_t frames, Input& input);

  // The largest number of frames that are under way.
  std::size_t size() const { return frames_.size(); }
  const std::vector<std::unique_ptr<Model>>& models() const { return models_; }

 private:
  struct Run;
  // The work of a stage on one frame; returns false if there are no more.
  using Step = std::function<bool(Frame&)>;
  Step step_of(Stage stage, Run& run);
  void serve_all(Run& run);           // until the last frame has passed the last stage
  void serve(Stage stage, Run& run);  // on the thread of that stage
  bool read(Run& run, Frame& frame);
  void report_failure(Run& run, const Frame& frame);
  void preprocess(Frame& frame);
  void submit(Frame& frame);
  void collect(Frame& frame);
  void postprocess(Frame& frame);

  std::array<BusyTime, kStages> busy_;  // outlives the models, whose jobs it counts
  std::shared_ptr<vart::Device> device_;
  unsigned most_jobs_;  // of each model
  std::vector<std::unique_ptr<Model>> models_;
  std::vector<std::unique_ptr<Frame>> frames_;
};
