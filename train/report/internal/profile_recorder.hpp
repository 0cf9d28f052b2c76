// ProfileRecorder: collects the measurements of a Profile. Include it only in .cpp files.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/train/report/profile.hpp"
#include "train/report/internal/layer_names.hpp"

namespace weft {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Collects the measurements of a Profile. Called by tapes and by parallel_for while they compute.
class ProfileRecorder final : public ParallelObserver {
 public:
  explicit ProfileRecorder(LayerNames names) : layers(std::move(names)), limits(measure_limits()) {
    previous_ = observe_parallel(this);
    last_end = step_start_ = seconds_now();
  }
  ~ProfileRecorder() override { observe_parallel(previous_); }

  void observe(const TapeEvent& event) {
    const double time = seconds_now();
    const std::lock_guard lock(mutex_);
    TapeState& tape = tapes_[event.tape];
    switch (event.kind) {
      case TapeEvent::Kind::parameter:
        return add_parameter(tape, event);
      case TapeEvent::Kind::forward:
        add_forward(tape, event, time);
        break;
      case TapeEvent::Kind::backward_begins:
        place_pending(tape, 0);
        tape.layer = 0;
        tape.bytes_in_use = event.memory.bytes_in_use;
        break;
      case TapeEvent::Kind::backward:
        add_backward(tape, event, time);
        remember_peak(tape, event);
        break;
    }
    last_end = seconds_now();
  }

  void begin_phase() { last_end = seconds_now(); }
  void add_phase(const char* name, double start) {
    const double end = seconds_now();
    ProfileRow& row = phases_[name];
    row.layer = name;
    ++row.calls;
    row.forward_seconds += end - start;
    add_to_trace({name, -1, "phase", thread_number, start, end});
    last_end = end;
  }

  void end_step() {
    const double end = seconds_now();
    if (!is_warm_) {
      is_warm_ = true;
      rows_.clear();
      phases_.clear();
      trace_.clear();
    } else {
      ++steps;
      seconds += end - step_start_;
    }
    is_traced_ = trace_.size() < most_traced;
    for (auto& [address, tape] : tapes_) tape.bytes_now = 0.0;
    bytes_now_ = 0.0;
    step_start_ = last_end = end;
  }

  // --- ParallelObserver ---------------------------------------------------------------------

  void region_begins() override {}
  void region_ends() override {
    for (std::vector<Range>& of_thread : ranges_) {
      for (const Range& range : of_thread)
        add_to_trace({"range", -1, "range", range.thread, range.start, range.end});
      of_thread.clear();
    }
  }
  void range_begins(int thread) override {
    thread_number = thread;
    const double time = seconds_now();
    // Thread 0 is the calling thread. Its time belongs to the current operation or phase.
    if (thread != 0) last_end = time;
    if (std::vector<Range>* of_thread = ranges_of(thread))
      of_thread->push_back({thread, time, time});
  }
  void range_ends(int thread) override {
    if (std::vector<Range>* of_thread = ranges_of(thread)) of_thread->back().end = seconds_now();
    thread_number = 0;
  }

  // --- Results ------------------------------------------------------------------------------

  std::vector<ProfileRow> operations() {
    place_all();
    std::vector<ProfileRow> rows;
    for (const auto& [key, row] : rows_) rows.push_back(row);
    return by_time(std::move(rows));
  }
  std::vector<ProfileRow> phases() const {
    std::vector<ProfileRow> rows;
    for (const auto& [name, row] : phases_) rows.push_back(row);
    return by_time(std::move(rows));
  }
  std::vector<ProfileRow> layer_rows() {
    place_all();
    std::vector<ProfileRow> rows(static_cast<std::size_t>(layers.size()));
    for (int layer = 0; layer < layers.size(); ++layer)
      rows[static_cast<std::size_t>(layer)].layer = layers.name(layer);
    for (const auto& [key, row] : rows_)
      for (int layer = key.first; layer >= 0; layer = layers.parent(layer))
        add(rows[static_cast<std::size_t>(layer)], row);
    return rows;
  }

  std::vector<MemoryRow> memory_rows() const {
    std::vector<MemoryRow> rows = memory_;
    for (int layer = layers.size() - 1; layer >= 0; --layer) {
      MemoryRow& row = rows[static_cast<std::size_t>(layer)];
      row.layer = layers.name(layer);
      row.parameters = layers.element_size() * static_cast<double>(layers.parameters(layer));
      if (layer > 0) add(rows[static_cast<std::size_t>(layers.parent(layer))], row);
    }
    return rows;
  }

  template <class T>
  void count_memory(const Optimizer<T>& optimizer, Index parts) {
    for (MemoryRow& row : memory_) row.gradients = row.optimizer = 0.0;
    const auto row_of_parameter = [&](std::size_t index) -> MemoryRow& {
      const int layer = layers.of_parameter(optimizer.parameters()[index].parameter);
      return memory_[static_cast<std::size_t>(std::max(layer, 0))];
    };
    for (std::size_t i = 0; i < optimizer.parameters().size(); ++i)
      if (const Parameter<T>& parameter = *optimizer.parameters()[i].parameter;
          parameter.requires_grad())
        row_of_parameter(i).gradients +=
            layers.element_size() * static_cast<double>(parameter.size() * parts);
    const OptimizerSlices<T>& slices = optimizer.slices();
    for (const std::vector<Tensor<T>>& state : slices.state)
      for (std::size_t i = 0; i < state.size(); ++i)
        row_of_parameter(slices.sequence.slices()[i].parameter).optimizer +=
            layers.element_size() * static_cast<double>(state[i].size());
  }

  // Returns the shape of a layer's last result.
  const Shape& result(int layer) const { return results_[static_cast<std::size_t>(layer)]; }
  double counted_steps() const { return static_cast<double>(std::max<std::int64_t>(steps, 1)); }

  static void add(ProfileRow& to, const ProfileRow& row) {
    to.calls += row.calls;
    to.forward_seconds += row.forward_seconds;
    to.backward_seconds += row.backward_seconds;
    to.flops += row.flops;
    to.bytes += row.bytes;
    to.memory += row.memory;
  }
  static void add(MemoryRow& to, const MemoryRow& row) {
    to.parameters += row.parameters;
    to.gradients += row.gradients;
    to.optimizer += row.optimizer;
    to.values += row.values;
    to.computing += row.computing;
  }
  static std::vector<ProfileRow> by_time(std::vector<ProfileRow> rows) {
    std::ranges::stable_sort(rows, std::greater<>(), &ProfileRow::seconds);
    return rows;
  }

  std::string trace() const {
    std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
    double origin = seconds_now();
    for (const Span& span : trace_) origin = std::min(origin, span.start);
    for (const Span& span : trace_) {
      nlohmann::json event{{"ph", "X"},
                           {"pid", 1},
                           {"tid", span.thread},
                           {"cat", span.category},
                           {"name", span.name},
                           {"ts", 1e6 * (span.start - origin)},
                           {"dur", 1e6 * (span.end - span.start)}};
      if (span.layer >= 0) event["args"] = {{"layer", layers.name(span.layer)}};
      text += event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ",\n";
    }
    for (int thread = 0; thread < thread_count(); ++thread)
      text += nlohmann::json{{"ph", "M"},
                             {"pid", 1},
                             {"tid", thread},
                             {"name", "thread_name"},
                             {"args", {{"name", str_cat("thread ", thread)}}}}
                  .dump() +
              (thread + 1 < thread_count() ? ",\n" : "\n");
    return text + "]}\n";
  }

  const LayerNames layers;
  const MachineLimits limits;
  std::int64_t steps = 0;
  double seconds = 0.0;  // duration of all measured steps

 private:
  // The end of the calling thread's last measurement, and its number in a parallel region.
  static inline thread_local double last_end = 0.0;
  static inline thread_local int thread_number = 0;

  static constexpr std::size_t most_traced = 100'000;

  // An entry of the trace; `layer` is -1 if it belongs to no layer.
  struct Span {
    const char* name;
    int layer;
    const char* category;
    int thread;
    double start, end;
  };
  struct Range {
    int thread;
    double start, end;
  };
  // A forward operation whose layer is not known yet.
  struct Pending {
    TapeEvent event;
    Span span;
    double bytes, memory;
  };
  // The data of a record that backward needs.
  struct Record {
    int layer = 0;
    double flops = 0.0, bytes = 0.0, memory = 0.0;
  };
  struct TapeState {
    int layer = 0;                // layer of the last used parameters
    std::vector<int> parameters;  // layers of the parameters used since the last operation
    double parameter_bytes = 0.0;
    std::vector<Pending> pending;
    std::vector<Record> records;
    std::size_t bytes_in_use = 0;
    double memory = 0.0;       // memory of unrecorded operations since the last recorded one
    std::size_t num_kept = 0;  // number of records that backward has not reached
    double bytes_now = 0.0;    // bytes in use in this step
  };

  std::vector<Range>* ranges_of(int thread) {
    return static_cast<std::size_t>(thread) < ranges_.size()
               ? &ranges_[static_cast<std::size_t>(thread)]
               : nullptr;
  }

  void add_to_trace(const Span& span) {
    if (is_traced_) trace_.push_back(span);
  }

  void add_parameter(TapeState& tape, const TapeEvent& event) {
    const int layer = layers.of_parameter(event.parameter);
    if (layer < 0) return;
    place_pending(tape, layer);
    tape.parameters.push_back(layer);
    tape.parameter_bytes += static_cast<double>(event.elements * event.element_size);
  }

  void add_forward(TapeState& tape, const TapeEvent& event, double time) {
    const bool is_recorded = event.record >= 0;
    // A reshaped tensor shares the memory of its input.
    const Index moved = event.operation == std::string_view("reshape") ? 0 : event.elements;
    double bytes = static_cast<double>(moved * event.element_size);
    // The parameters of a recorded operation are among its recorded inputs.
    if (!is_recorded) bytes += tape.parameter_bytes;
    const double memory =
        static_cast<double>(event.memory.bytes_in_use) - static_cast<double>(tape.bytes_in_use);
    tape.bytes_in_use = event.memory.bytes_in_use;
    set_bytes(tape, event);
    tape.memory += memory;
    if (is_recorded) {
      tape.num_kept = static_cast<std::size_t>(event.record) + 1;
      tape.records.resize(tape.num_kept);
      double kept = std::exchange(tape.memory, 0.0);
      tape.records.back() = {0, event.flops, bytes, std::max(0.0, kept)};
      // Memory released since then belongs to the latest records.
      for (std::size_t i = tape.records.size(); kept < 0.0 && i-- > 0;) {
        const double released = std::min(tape.records[i].memory, -kept);
        tape.records[i].memory -= released;
        kept += released;
      }
    }
    tape.pending.push_back(
        {event, {event.operation, 0, "forward", thread_number, last_end, time}, bytes, memory});
    if (tape.parameters.empty()) return;
    int layer = tape.parameters.front();
    for (const int other : tape.parameters) layer = layers.common(layer, other);
    place(tape, tape.pending.back(), layer);
    tape.pending.pop_back();
    tape.layer = layer;
    tape.parameters.clear();
    tape.parameter_bytes = 0.0;
  }

  // Assigns operations without parameters to the innermost layer that contains the parameters used
  // before and after them.
  void place_pending(TapeState& tape, int next) {
    const int layer = layers.common(tape.layer, next);
    for (const Pending& operation : tape.pending) place(tape, operation, layer);
    tape.pending.clear();
  }

  // Assigns the pending operations of passes that have ended.
  void place_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [address, tape] : tapes_) place_pending(tape, 0);
  }

  void place(TapeState& tape, const Pending& operation, int layer) {
    if (operation.event.record >= 0)
      tape.records[static_cast<std::size_t>(operation.event.record)].layer = layer;
    ProfileRow& row = row_of(layer, operation.event.operation);
    ++row.calls;
    row.forward_seconds += operation.span.end - operation.span.start;
    row.flops += operation.event.flops;
    row.bytes += operation.bytes;
    row.memory += operation.memory;
    for (int within = layer; within >= 0; within = layers.parent(within))
      results_[static_cast<std::size_t>(within)] = operation.event.shape;
    Span span = operation.span;
    span.layer = layer;
    add_to_trace(span);
  }

  void add_backward(TapeState& tape, const TapeEvent& event, double time) {
    Record record;
    if (static_cast<std::size_t>(event.record) < tape.records.size())
      record = tape.records[static_cast<std::size_t>(event.record)];
    ProfileRow& row = row_of(record.layer, event.operation);
    row.backward_seconds += time - last_end;
    row.flops += 2.0 * record.flops;
    row.bytes += 2.0 * record.bytes;
    add_to_trace({event.operation, record.layer, "backward", thread_number, last_end, time});
  }

  void set_bytes(TapeState& tape, const TapeEvent& event) {
    bytes_now_ -= tape.bytes_now;
    bytes_now_ += tape.bytes_now = static_cast<double>(event.memory.bytes_in_use);
  }

  // If all tapes together use more memory than before, records the values kept for backward, by
  // layer. The rest of the memory belongs to the layer whose backward function has just run.
  void remember_peak(TapeState& current, const TapeEvent& event) {
    set_bytes(current, event);
    current.num_kept = static_cast<std::size_t>(event.record);
    if (bytes_now_ <= peak_bytes_ || current.num_kept >= current.records.size()) return;
    peak_bytes_ = bytes_now_;
    for (MemoryRow& row : memory_) row.values = row.computing = 0.0;
    double kept = 0.0;
    for (const auto& [address, tape] : tapes_)
      if (tape.bytes_now > 0.0)
        for (const Record& record : std::span(tape.records).first(tape.num_kept)) {
          memory_[static_cast<std::size_t>(record.layer)].values += record.memory;
          kept += record.memory;
        }
    const int layer = current.records[current.num_kept].layer;
    memory_[static_cast<std::size_t>(layer)].computing = std::max(0.0, bytes_now_ - kept);
  }

  ProfileRow& row_of(int layer, const char* operation) {
    const auto [row, is_new] = rows_.try_emplace({layer, operation});
    if (is_new) {
      row->second.layer = layers.name(layer);
      row->second.operation = operation;
    }
    return row->second;
  }

  std::mutex mutex_;
  std::unordered_map<const void*, TapeState> tapes_;
  std::map<std::pair<int, std::string_view>, ProfileRow> rows_;
  std::map<std::string, ProfileRow> phases_;
  std::vector<Shape> results_{static_cast<std::size_t>(layers.size())};     // last ones, by layer
  std::vector<MemoryRow> memory_{static_cast<std::size_t>(layers.size())};  // without inner layers
  double bytes_now_ = 0.0, peak_bytes_ = 0.0;  // for all tapes together
  std::vector<Span> trace_;
  std::array<std::vector<Range>, 256> ranges_;  // the current region's ranges, by thread
  double step_start_ = 0.0;
  bool is_warm_ = false;
  bool is_traced_ = true;
  ParallelObserver* previous_ = nullptr;
};

}  // namespace weft
