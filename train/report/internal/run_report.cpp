#include "train/report/internal/run_report.hpp"

#include <algorithm>
#include <span>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/layers/freeze.hpp"
#include "weft/layers/summary.hpp"
#include "weft/version.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/random_access_file.hpp"
#include "train/report/internal/machine.hpp"
#include "train/report/internal/page.hpp"

namespace weft {
namespace {

constexpr std::size_t most_example_bytes = 800'000;

template <class T>
class SettingsVisitor final : public State<T> {
 public:
  void tensor(const std::string&, Tensor<T>&) override {}
  void integer(const std::string& name, std::int64_t& value) override {
    settings.emplace_back(name, str_cat(value));
  }
  void flag(const std::string& name, bool& value) override {
    settings.emplace_back(name, value ? "true" : "false");
  }
  void number(const std::string& name, double& value) override {
    settings.emplace_back(name, str_cat(value));
  }
  void text(const std::string& name, std::string& value) override {
    settings.emplace_back(name, value);
  }

  Settings settings;
};

// Converts settings to JSON. Long values, such as vocabularies, are shortened; notes are not,
// because programs read them.
Json json_of(const Settings& settings, std::size_t most_bytes = 1000) {
  Json json = Json::object();
  for (const auto& [name, value] : settings) json[name] = beginning_of(value, most_bytes);
  return json;
}

// Removes the entries after `step`, at which a run resumes.
void keep_until(Json& list, std::int64_t step) {
  Json kept = Json::array();
  for (Json& entry : list)
    if (entry.at("step").get<std::int64_t>() <= step) kept.push_back(std::move(entry));
  list = std::move(kept);
}

}  // namespace

struct RunReport::Contents {
  Json record;
  std::vector<NamedCurve> curves;
};

template <class T>
Settings settings_of(Stateful<T>& object) {
  SettingsVisitor<T> visitor;
  object.state(visitor);
  return visitor.settings;
}

template <class T>
void describe_model(const Module<T>& model, RunDescription& description) {
  description.model = str_cat(whole_model(model));
  for (const auto& [name, parameter] : named_parameters(whole_model(model)))
    description.parameters.push_back({name, parameter->shape().to_string(),
                                      str_cat(parameter->size()),
                                      parameter->requires_grad() ? "trained" : "frozen"});
}

RunReport::RunReport(std::filesystem::path folder, const RunDescription& description,
                     std::int64_t first_step)
    : folder_(std::move(folder)), contents_(std::make_unique<Contents>()) {
  Json& record = contents_->record;
  record = {
      {"form", form},
      {"weft", WEFT_VERSION},
      {"name", folder_.string()},
      {"command", command_line()},
      {"directory", std::filesystem::current_path().string()},
      {"started", utc_time()},
      {"label_unit", description.label_unit},
      {"configuration", json_of(description.configuration)},
      {"training", json_of(description.training)},
      {"data", json_of(description.data)},
      {"notes", json_of(description.notes, 100'000)},
      {"machine", json_of(machine_settings())},
      {"threads", thread_count()},
      {"processes", description.processes},
      {"model",
       {{"tree", beginning_of(description.model, 50'000)}, {"parameters", description.parameters}}},
      {"warnings", Json::array()},
      {"examples", Json::array()},
      {"sections", Json::array()},
      {"resumed", Json::array()}};
  if (first_step == 0) {
    for (std::size_t i = 1; i < description.columns.size(); ++i)
      contents_->curves.push_back({description.columns[i], Curve(curve_buckets)});
    return;
  }
  contents_->curves = read_curves(folder_ / "metrics.csv");
  try {
    const Json earlier = json_in(file_contents(folder_ / "run.json").value_or("{}"));
    if (earlier.value("form", 0) != form) return;
    Json continued = record;
    for (const char* list : {"warnings", "examples", "resumed"}) {
      continued[list] = earlier.at(list);
      keep_until(continued[list], first_step);
    }
    continued["resumed"].push_back(
        {{"step", first_step}, {"command", record["command"]}, {"changes", description.changes}});
    continued["started"] = earlier.at("started");
    continued["command"] = earlier.at("command");
    seconds_before_ = std::max(0.0, earlier.at("seconds").get<double>());
    record = std::move(continued);
  } catch (const Json::exception&) {
    // The earlier record is unusable. The report shows only the curves of the earlier part.
  }
}

RunReport::~RunReport() = default;

void RunReport::add_row(std::int64_t step, const std::vector<std::optional<double>>& values) {
  for (std::size_t i = 0; i < std::min(values.size(), contents_->curves.size()); ++i)
    if (values[i]) contents_->curves[i].curve.add(step, *values[i]);
}

void RunReport::add_examples(std::int64_t step, const ReportSection& examples) {
  Json& all = contents_->record["examples"];
  all.push_back({{"step", step}, {"blocks", weft::json_of(examples)}});
  std::size_t bytes = 0, kept = 0;
  while (kept < all.size() && bytes < most_example_bytes)
    bytes += text_of(all[all.size() - ++kept]).size();
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kept));
}

void RunReport::add_warning(std::int64_t step, const std::string& text) {
  contents_->record["warnings"].push_back({{"step", step}, {"text", text}});
}

void RunReport::set_section(const std::string& title, const ReportSection& section) {
  Json& sections = contents_->record["sections"];
  const Json json{{"title", title}, {"blocks", weft::json_of(section)}};
  for (Json& other : sections)
    if (other["title"] == title) {
      other = json;
      return;
    }
  sections.push_back(json);
}

bool RunReport::is_due() const { return Clock::now() >= next_; }

std::optional<std::string> RunReport::write(const RunState& state) {
  constexpr int times_its_duration = 200;
  const auto begin = Clock::now();
  Json& record = contents_->record;
  record["state"] = state.state;
  record["step"] = state.step;
  record["total_steps"] = state.total_steps;
  if (state.skipped_steps > 0) record["skipped_steps"] = state.skipped_steps;
  record["seconds"] = seconds_before_ + std::chrono::duration<double>(begin - start_).count();
  record.erase("best");
  // A resumed run may have no validation, although the earlier part had one.
  if (state.best_step > 0 && contents_->curves.size() > own_columns)
    record["best"] = {{"step", state.best_step},
                      {"value", state.best_value},
                      {"name", contents_->curves[own_columns].name}};
  std::optional<std::string> error;
  try {
    const std::string json = text_of(record) + "\n";
    write_atomically(folder_ / "run.json", std::as_bytes(std::span(json)));
    Json run = record;
    run["curves"] = weft::json_of(contents_->curves);
    const std::string page = page_of("[" + text_of(run) + "]");
    write_atomically(folder_ / "report.html", std::as_bytes(std::span(page)));
  } catch (const FileError& reason) {
    error = reason.what();
  }
  const auto end = Clock::now();
  next_ = end + times_its_duration * (end - begin);
  return error;
}

template Settings settings_of(Stateful<float>&);
template Settings settings_of(Stateful<double>&);
template void describe_model(const Module<float>&, RunDescription&);
template void describe_model(const Module<double>&, RunDescription&);

}  // namespace weft
