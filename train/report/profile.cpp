#include "weft/train/report/profile.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <span>
#include <unordered_map>

#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/internal/text_table.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/report/internal/profile_recorder.hpp"

namespace weft {
namespace {

// Runs a function several times and returns the shortest time.
template <class Run>
double best_seconds(const Run& run) {
  double best = 1e9;
  const double until = seconds_now() + 0.1;
  do {
    const double start = seconds_now();
    run();
    best = std::min(best, seconds_now() - start);
  } while (seconds_now() < until);
  return best;
}

std::string fixed(double value, int digits = 2) {
  return str_cat(std::fixed, std::setprecision(digits), value);
}

std::string percent(double share) { return fixed(100.0 * share, 1) + " %"; }

}  // namespace

MachineLimits measure_limits() {
  constexpr Index n = 1024, count = 16 << 20;
  auto tape = Tape<float>::inference();
  const Var<float> a = tape.constant(Tensor<float>::full({n, n}, 0.5F));
  const Tensor<float> source = Tensor<float>::full({count}, 1.0F);
  Tensor<float> target({count});
  const float* const from = source.data();
  float* const to = target.data();
  const double product = best_seconds([&] { matmul(a, a); });
  const double copy = best_seconds([&] {
    parallel_for(count, count / 64,
                 [&](Index begin, Index end) { std::copy(from + begin, from + end, to + begin); });
  });
  return {2.0 * n * n * n / product, 2.0 * sizeof(float) * count / copy};
}

template <class T>
void Profile::count_memory(const Optimizer<T>& optimizer, Index parts) {
  recorder_->count_memory(optimizer, parts);
}

template <class T>
Profile::Profile(const Module<T>& model)
    : recorder_(std::make_unique<ProfileRecorder>(LayerNames(model))) {}
Profile::~Profile() = default;

void Profile::observe(const TapeEvent& event) { recorder_->observe(event); }
void Profile::end_step() { recorder_->end_step(); }

Profile::Phase::Phase(Profile* profile, const char* name) : profile_(profile), name_(name) {
  if (!profile_) return;
  profile_->recorder_->begin_phase();
  start_ = seconds_now();
}
Profile::Phase::~Phase() {
  if (profile_) profile_->recorder_->add_phase(name_, start_);
}

std::vector<ProfileRow> Profile::operations() const { return recorder_->operations(); }
std::vector<ProfileRow> Profile::phases() const { return recorder_->phases(); }
std::vector<ProfileRow> Profile::layers() const { return recorder_->layer_rows(); }
std::vector<MemoryRow> Profile::memory() const { return recorder_->memory_rows(); }
std::int64_t Profile::steps() const { return recorder_->steps; }
double Profile::step_seconds() const { return recorder_->seconds / recorder_->counted_steps(); }
const MachineLimits& Profile::limits() const { return recorder_->limits; }

namespace {

// Returns the shortest possible time on the machine, divided by the measured time. At most 1,
// because caches are faster than the memory that `limits` was measured with.
double share_of_limit(const ProfileRow& row, const MachineLimits& limits) {
  const double least =
      std::max(row.flops / limits.flops_per_second, row.bytes / limits.bytes_per_second);
  return least < row.seconds() ? least / row.seconds() : least > 0.0 ? 1.0 : 0.0;
}

}  // namespace

std::string Profile::phase_table() const {
  using enum TextTable::Align;
  TextTable table({left, right, right, right});
  table.add({"phase", "calls", "ms/step", "share"});
  const double steps = recorder_->counted_steps();
  for (const ProfileRow& row : phases())
    table.add({row.layer, str_cat(row.calls), fixed(1e3 * row.seconds() / steps),
               percent(row.seconds() / recorder_->seconds)});
  table.add({"step", str_cat(recorder_->steps), fixed(1e3 * step_seconds()), ""});
  return table.text();
}

std::string Profile::operation_table() const {
  std::map<std::string, ProfileRow> by_name;
  ProfileRow all;
  for (const ProfileRow& row : operations()) {
    ProfileRow& sum = by_name[row.operation];
    sum.operation = row.operation;
    ProfileRecorder::add(sum, row);
    ProfileRecorder::add(all, row);
  }
  std::vector<ProfileRow> rows;
  for (const auto& [name, row] : by_name) rows.push_back(row);
  rows = ProfileRecorder::by_time(std::move(rows));
  all.operation = "all operations";
  rows.push_back(all);

  using enum TextTable::Align;
  TextTable table({left, right, right, right, right, right, right, right});
  table.add(
      {"operation", "calls", "forward ms", "backward ms", "share", "GFLOP", "GB", "of limit"});
  const double steps = recorder_->counted_steps();
  for (const ProfileRow& row : rows)
    table.add({row.operation, fixed(static_cast<double>(row.calls) / steps, 0),
               fixed(1e3 * row.forward_seconds / steps), fixed(1e3 * row.backward_seconds / steps),
               percent(row.seconds() / all.seconds()), fixed(1e-9 * row.flops / steps),
               fixed(1e-9 * row.bytes / steps, 3), percent(share_of_limit(row, limits()))});
  return table.text();
}

namespace {

// A line of a table: a layer, or the layers at the same place in the elements of a list,
// "blocks.*.attention".
struct LayerLine {
  std::string text;  // the name within the layer that contains it, indented
  std::string type;
  int count = 0;
  Index parameters = 0;
  Shape result = {};
  ProfileRow row = {};
  MemoryRow memory = {};
};

std::vector<LayerLine> layer_lines(ProfileRecorder& recorder) {
  const LayerNames& names = recorder.layers;
  const std::vector<ProfileRow> rows = recorder.layer_rows();
  const std::vector<MemoryRow> memory = recorder.memory_rows();
  std::vector<LayerLine> lines;
  std::unordered_map<std::string, std::size_t> found;
  for (int layer = 0; layer < names.size(); ++layer) {
    if (names.type(layer) == "ModuleList") continue;
    const auto [line, is_new] = found.try_emplace(names.pattern(layer), lines.size());
    if (is_new) lines.push_back({names.indented(layer), names.description(layer)});
    LayerLine& merged = lines[line->second];
    ++merged.count;
    merged.parameters += names.parameters(layer);
    merged.result = recorder.result(layer);
    recorder.add(merged.row, rows[static_cast<std::size_t>(layer)]);
    recorder.add(merged.memory, memory[static_cast<std::size_t>(layer)]);
  }
  return lines;
}

}  // namespace

std::string Profile::layer_table() const {
  const std::vector<LayerLine> lines = layer_lines(*recorder_);
  const double all = lines.front().row.seconds(), steps = recorder_->counted_steps();
  using enum TextTable::Align;
  TextTable table({left, left, right, right, right, right, right});
  table.add({"layer", "type", "forward ms", "backward ms", "share", "GFLOP", "of limit"});
  for (const LayerLine& line : lines) {
    const ProfileRow& row = line.row;
    if (row.seconds() < 0.001 * all) continue;
    table.add({line.text, line.type, fixed(1e3 * row.forward_seconds / steps),
               fixed(1e3 * row.backward_seconds / steps), percent(row.seconds() / all),
               fixed(1e-9 * row.flops / steps), percent(share_of_limit(row, limits()))});
  }
  return table.text();
}

std::string Profile::memory_table() const {
  const std::vector<LayerLine> lines = layer_lines(*recorder_);
  using enum TextTable::Align;
  TextTable table({left, right, right, right, right, right, right});
  table.add({"layer", "MB", "parameters", "gradients", "optimizer", "values", "computing"});
  for (const auto& [text, type, count, parameters, result, row, memory] : lines) {
    if (memory.bytes() < 0.001 * lines.front().memory.bytes()) continue;
    std::vector<std::string> cells{text};
    for (const double bytes : {memory.bytes(), memory.parameters, memory.gradients,
                               memory.optimizer, memory.values, memory.computing})
      cells.push_back(fixed(1e-6 * bytes, 1));
    table.add(std::move(cells));
  }
  return table.text();
}

void Profile::write_trace(const std::filesystem::path& path) const {
  const std::string text = recorder_->trace();
  write_atomically(path, std::as_bytes(std::span(text)));
}

template <class T>
std::string pass_table(const Module<T>& model,
                       const std::type_identity_t<std::function<void(Tape<T>& tape)>>& pass) {
  check_function("pass_table: pass", pass);
  Profile profile(model);
  Tape<T> tape({.observer = &profile});
  pass(tape);
  return profile.pass_table();
}

std::string Profile::pass_table() const {
  using enum TextTable::Align;
  TextTable table({left, left, right, left, right, right, right});
  table.add({"layer", "type", "count", "result", "parameters", "MFLOP", "MB"});
  for (const LayerLine& line : layer_lines(*recorder_))
    table.add({line.text, line.type, str_cat(line.count),
               line.result.rank() > 0 ? line.result.to_string() : "", str_cat(line.parameters),
               fixed(1e-6 * line.row.flops), fixed(1e-6 * line.row.memory)});
  return table.text();
}

template Profile::Profile(const Module<float>&);
template Profile::Profile(const Module<double>&);
template void Profile::count_memory(const Optimizer<float>&, Index);
template void Profile::count_memory(const Optimizer<double>&, Index);
template std::string pass_table(const Module<float>&, const std::function<void(Tape<float>&)>&);
template std::string pass_table(const Module<double>&, const std::function<void(Tape<double>&)>&);

}  // namespace weft
