#include "weft/train/report/run_record.hpp"

#include <algorithm>
#include <set>

#include "weft/autograd/error.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/random_access_file.hpp"
#include "train/report/internal/page.hpp"
#include "train/report/internal/run_report.hpp"

namespace weft {
namespace {

Json read_record(const std::filesystem::path& file) {
  constexpr std::uint64_t most_bytes = 64 << 20;
  const auto text = file_contents(file, most_bytes);
  if (!text) return Json::object();
  Json record = json_in(*text);
  const auto form = record.is_object() ? record.find("form") : record.end();
  if (!record.is_object() || form == record.end() || !form->is_number_integer())
    fail_on_file(file, "the record of a training run", "different JSON");
  if (*form > RunReport::form)
    fail_on_file(file, str_cat("format ", RunReport::form, " or older"),
                 str_cat("format ", form->dump(), " of a newer weft"));
  return record;
}

// Checks the types of the entries that pages and RunRecord use. Throws FileError, naming the entry.
class RecordCheck {
 public:
  RecordCheck(const std::filesystem::path& file, const Json& record) : file_(file) {
    for (const char* name :
         {"state", "weft", "name", "command", "directory", "started", "label_unit"})
      text(record, name);
    for (const char* name : {"step", "total_steps", "threads", "processes"}) count(record, name);
    if (const Json* seconds = entry(record, "seconds"))
      if (!seconds->is_number() || !(seconds->get<double>() >= 0.0))
        fail_on("seconds", "a number ≥ 0", *seconds);
    for (const char* name : settings_groups) texts(record, name);
    texts(record, "machine");
    if (const Json* best = object(record, "best")) {
      count(*best, "step", "best.");
      text(*best, "name", "best.");
      if (!best->contains("step") || !best->contains("value") || !best->at("value").is_number())
        fail_on("best", "a step and a value", *best);
    }
    for (const char* name : {"warnings", "resumed"})
      for (const Json& each : list(record, name)) {
        const std::string within = str_cat(name, "[…].");
        if (!each.is_object()) fail_on(name, "a list of objects", each);
        count(each, "step", within);
        for (const char* part : {"text", "command"}) text(each, part, within);
        for (const Json& change : list(each, "changes", within))
          if (!change.is_string()) fail_on(within + "changes", "a list of strings", change);
      }
    if (const Json* model = object(record, "model")) {
      text(*model, "tree", "model.");
      for (const Json& row : list(*model, "parameters", "model."))
        if (!row.is_array() || row.size() != 4 ||
            !std::ranges::all_of(row, [](const Json& cell) { return cell.is_string(); }))
          fail_on("model.parameters", "a list of rows of four strings", row);
    }
  }

  static constexpr const char* settings_groups[] = {"configuration", "training", "data", "notes"};

 private:
  // Returns an entry, or null if there is none.
  static const Json* entry(const Json& parent, const std::string& name) {
    const auto found = parent.find(name);
    return found == parent.end() ? nullptr : &*found;
  }
  const Json* object(const Json& parent, const std::string& name) const {
    const Json* const value = entry(parent, name);
    if (value && !value->is_object()) fail_on(name, "an object", *value);
    return value;
  }
  const Json& list(const Json& parent, const std::string& name,
                   const std::string& within = "") const {
    static const Json none = Json::array();
    const Json* const value = entry(parent, name);
    if (value && !value->is_array()) fail_on(within + name, "a list", *value);
    return value ? *value : none;
  }
  void text(const Json& parent, const std::string& name, const std::string& within = "") const {
    const Json* const value = entry(parent, name);
    if (value && !value->is_string()) fail_on(within + name, "a string", *value);
  }
  void count(const Json& parent, const std::string& name, const std::string& within = "") const {
    constexpr std::uint64_t most = std::uint64_t{1} << 53;  // the largest integer of JavaScript
    const Json* const value = entry(parent, name);
    if (value && !(value->is_number_unsigned() && value->get<std::uint64_t>() <= most))
      fail_on(within + name, "an integer ≥ 0", *value);
  }
  void texts(const Json& record, const std::string& group) const {
    if (const Json* values = object(record, group))
      for (const auto& [name, value] : values->items()) text(*values, name, group + ".");
  }
  [[noreturn]] void fail_on(const std::string& name, const std::string& expected,
                            const Json& got) const {
    constexpr std::size_t most_bytes = 60;
    fail_on_file(file_, str_cat(expected, " as '", name, "'"),
                 beginning_of(text_of(got), most_bytes));
  }

  const std::filesystem::path& file_;
};

void take(RunRecord& run, const Json& record) {
  run.state = record.value("state", "");
  run.steps = record.value("step", run.steps);
  if (record.contains("seconds")) run.seconds = record["seconds"].get<double>();
  if (record.contains("best")) {
    run.best_step = record["best"]["step"].get<std::int64_t>();
    run.best_value = record["best"]["value"].get<double>();
  }
  // If several groups contain a name, the first group takes precedence. Notes come last, because
  // they use the names of command-line options.
  std::set<std::string> names;
  for (const char* group : RecordCheck::settings_groups)
    if (record.contains(group))
      for (const auto& [name, value] : record[group].items())
        if (names.insert(name).second) run.settings.emplace_back(name, value.get<std::string>());
}

// Returns the name of the first validation value: the column after the trainer's columns.
std::string validation_name(const std::vector<NamedCurve>& curves) {
  return curves.size() > own_columns ? curves[own_columns].name : "";
}

}  // namespace

RunRecord read_run(const std::filesystem::path& folder, std::size_t max_points) {
  const std::filesystem::path metrics = folder / "metrics.csv", file = folder / "run.json";
  const std::vector<NamedCurve> curves = read_curves(metrics, std::max<std::size_t>(max_points, 2));
  RunRecord run{.name = folder.string()};
  run.best_name = validation_name(curves);
  for (const auto& [name, curve] : curves) {
    if (curve.buckets().empty()) continue;
    run.steps = std::max(run.steps, curve.buckets().back().step);
    if (name != run.best_name) continue;
    for (const Curve::Bucket& bucket : curve.buckets())
      if (bucket.finite > 0 && (run.best_step == 0 || bucket.lowest < run.best_value)) {
        run.best_step = bucket.step;
        run.best_value = bucket.lowest;
      }
  }
  Json record = read_record(file);
  const RecordCheck check(file, record);
  take(run, record);
  for (const char* large : {"examples", "sections"}) record.erase(large);
  record["name"] = run.name;
  record["curves"] = json_of(curves);
  if (run.best_step > 0)
    record["best"] = {{"step", run.best_step}, {"value", run.best_value}, {"name", run.best_name}};
  run.json = text_of(record);
  return run;
}

std::vector<std::pair<std::string, std::string>> recorded_notes(
    const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, std::string>> notes;
  try {
    const Json record = read_record(folder / "run.json");
    if (record.contains("notes"))
      for (const auto& [name, value] : record["notes"].items())
        notes.emplace_back(name, value.get<std::string>());
  } catch (const std::exception&) {
    // The file is not a record of a run.
    notes.clear();
  }
  return notes;
}

void write_comparison(const std::filesystem::path& page, std::span<const RunRecord> runs) {
  if (runs.empty()) fail<ValueError>("comparison: runs", "at least one run", "none");
  std::string list;
  for (const RunRecord& run : runs) list += (list.empty() ? "[" : ",") + run.json;
  const std::string text = page_of(list + "]");
  write_atomically(page, std::as_bytes(std::span(text)));
}

}  // namespace weft
