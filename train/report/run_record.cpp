#include "weft/train/report/run_record.hpp"

#include <algorithm>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "train/files/atomic_file.hpp"
#include "train/files/open_file.hpp"
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
    fail_on_file(file, "the record of a run", "another file");
  if (*form > RunReport::form)
    fail_on_file(file, concatenate_text("form ", RunReport::form, " or older"),
                 concatenate_text(form->get<std::int64_t>(), ", of a newer weft"));
  return record;
}

void take(RunRecord& run, const Json& record) {
  run.state = record.value("state", "");
  run.steps = record.value("step", run.steps);
  if (record.contains("seconds")) run.seconds = record["seconds"].get<double>();
  if (record.contains("best")) {
    run.best_step = record["best"].at("step").get<std::int64_t>();
    run.best_value = record["best"].at("value").get<double>();
  }
  for (const char* group : {"configuration", "training", "data", "notes"})
    if (record.contains(group))
      for (const auto& [name, value] : record[group].items())
        run.settings.emplace_back(name, value.get<std::string>());
}

// The name of the first value of validations: the column behind the trainer's own ones.
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
  try {
    take(run, record);
  } catch (const Json::exception& error) {
    fail_on_file(file, "the record of a run", error.what());
  }
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
    // Another file: nothing is known.
    notes.clear();
  }
  return notes;
}

void write_comparison(const std::filesystem::path& page, std::span<const RunRecord> runs) {
  if (runs.empty()) fail<ValueError>("comparison: runs", "at least one", "none");
  std::string list;
  for (const RunRecord& run : runs) list += (list.empty() ? "[" : ",") + run.json;
  const std::string text = page_of(list + "]");
  write_atomically(page, std::as_bytes(std::span(text)));
}

}  // namespace weft
