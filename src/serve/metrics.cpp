#include "serve/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <new>
#include <string>

namespace millrace::serve {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

// Upper bounds in seconds, from what a request takes at least to what nobody waits for.
const Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                              0.01,   0.025,   0.05,   0.1,   0.25,   0.5,
                                              1,      2.5,     5,      10};

const Histogram::BucketBoundaries kFrames = {1, 2, 4, 8, 16, 32, 64, 128, 256};

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  Family<Counter>& requests = prometheus::BuildCounter()
                                  .Name("millrace_requests_total")
                                  .Help("Answered requests by model, version and HTTP status")
                                  .Register(registry);
  Family<Histogram>& seconds =
      prometheus::BuildHistogram()
          .Name("millrace_request_duration_seconds")
          .Help("Time from the arrival of an inference request to its answer")
          .Register(registry);
  Family<Histogram>& queued =
      prometheus::BuildHistogram()
          .Name("millrace_request_queue_seconds")
          .Help("Time for which an inference request waited for its job to begin")
          .Register(registry);
  Family<Histogram>& computed = prometheus::BuildHistogram()
                                    .Name("millrace_request_compute_seconds")
                                    .Help("Time for which the job of an inference request ran")
                                    .Register(registry);
  Family<Gauge>& in_flight = prometheus::BuildGauge()
                                 .Name("millrace_jobs_in_flight")
                                 .Help("Jobs that are accepted and not completed")
                                 .Register(registry);
  Family<Histogram>& frames = prometheus::BuildHistogram()
                                  .Name("millrace_job_frames")
                                  .Help("Frames of the jobs that were accepted: the batch sizes")
                                  .Register(registry);
  Family<Counter>& unserved =
      prometheus::BuildCounter()
          .Name("millrace_requests_unserved_total")
          .Help("Inference requests without a result, by reason: refused, cancelled, late")
          .Register(registry);
  Family<Counter>& copied = prometheus::BuildCounter()
                                .Name("millrace_input_copied_bytes_total")
                                .Help("Bytes of raw inputs that were copied to align them")
                                .Register(registry);
  Counter& dropped_lines =
      prometheus::BuildCounter()
          .Name("millrace_access_log_dropped_total")
          .Help("Lines of the access log that were not written, since it was too slow or failed")
          .Register(registry)
          .Add({});
  Gauge& connections = prometheus::BuildGauge()
                           .Name("millrace_http_connections")
                           .Help("Open connections")
                           .Register(registry)
                           .Add({});
};

namespace {

class CountedModel : public ModelMetrics {
 public:
  // The histograms of a model.
  struct Times {
    Histogram &total, &queued, &computed;
  };

  CountedModel(Family<Counter>& requests, Family<Counter>& unserved, const Times& times,
               Histogram& frames, Gauge& in_flight, Counter& copied, prometheus::Labels labels)
      : requests_(requests),
        labels_(std::move(labels)),
        refused_(unserved.Add(with("reason", "refused"))),
        cancelled_(unserved.Add(with("reason", "cancelled"))),
        late_(unserved.Add(with("reason", "late"))),
        times_(times),
        frames_(frames),
        in_flight_(in_flight),
        copied_(copied) {}

  void answered(unsigned status, double seconds) noexcept override {
    times_.total.Observe(seconds);
    try {
      requests_.Add(with("code", std::to_string(status))).Increment();
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  void ran(double queued_seconds, double computed_seconds) noexcept override {
    times_.queued.Observe(queued_seconds);
    times_.computed.Observe(computed_seconds);
  }
  void job_accepted() override { in_flight_.Increment(); }
  void job_ended() override { in_flight_.Decrement(); }
  void job_frames(uint32_t frames) override { frames_.Observe(frames); }
  void refused() override { refused_.Increment(); }
  void cancelled() override { cancelled_.Increment(); }
  void late() override { late_.Increment(); }
  void copied(uint64_t bytes) override { copied_.Increment(static_cast<double>(bytes)); }

 private:
  prometheus::Labels with(const char* name, const std::string& value) const {
    prometheus::Labels labels = labels_;
    labels[name] = value;
    return labels;
  }

  Family<Counter>& requests_;
  const prometheus::Labels labels_;
  Counter &refused_, &cancelled_, &late_;
  const Times times_;
  Histogram& frames_;
  Gauge& in_flight_;
  Counter& copied_;
};

}  // namespace

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  prometheus::BuildGauge()
      .Name("millrace_build_info")
      .Help("The version of the server, as a label")
      .Register(families_->registry)
      .Add({{"version", MILLRACE_VERSION}})
      .Set(1);
}
Metrics::~Metrics() = default;

std::unique_ptr<ModelMetrics> Metrics::add_model(const std::string& name,
                                                 const std::string& version) {
  const prometheus::Labels labels = {{"model", name}, {"version", version}};
  Families& all = *families_;
  return std::make_unique<CountedModel>(
      all.requests, all.unserved,
      CountedModel::Times{all.seconds.Add(labels, kSeconds), all.queued.Add(labels, kSeconds),
                          all.computed.Add(labels, kSeconds)},
      all.frames.Add(labels, kFrames), all.in_flight.Add(labels), all.copied.Add(labels), labels);
}

void Metrics::answered(unsigned status) noexcept {
  try {
    families_->requests.Add({{"model", ""}, {"version", ""}, {"code", std::to_string(status)}})
        .Increment();
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Metrics::log_line_dropped() noexcept {
  families_->dropped_lines.Increment();
}

std::string Metrics::text(uint32_t connections) {
  families_->connections.Set(connections);
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace millrace::serve
