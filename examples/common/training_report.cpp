#include "examples/common/training_report.hpp"

#include <string_view>

#include <weft/autograd/error.hpp>
#include "examples/common/output_files.hpp"

namespace weft::examples {
namespace {

const char* to_text(StopReason end) {
  switch (end) {
    case StopReason::finished:
      return "finished";
    case StopReason::stopped_early:
      return "stopped early";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

void check_outputs(const std::filesystem::path& folder,
                   const std::vector<std::filesystem::path>& inputs,
                   std::vector<std::string> results) {
  std::error_code error;
  for (const std::filesystem::path& input : inputs)
    if (std::filesystem::equivalent(folder, input, error))
      fail<FileError>("output directory '" + folder.string() + "'",
                      "a directory that is not an input", "an input directory");
  results.insert(results.end(),
                 {"best.h5", "last.h5", "metrics.csv", "run.json", "report.html", "trace.json"});
  for (const std::filesystem::path& file : files_in(folder))
    if (const std::string name = file.filename().string();
        name.starts_with("step-") || name.starts_with("events."))
      results.push_back(name);
  for (const std::string& name : results) check_replaceable(folder / name, inputs);
}

TrainingResult train_with_data(const std::string& option, const std::string& value,
                               const std::function<TrainingResult()>& train,
                               const std::string& advice) {
  try {
    return train();
  } catch (const ValueError& error) {
    if (std::string_view(error.what()).find("training progress: data") == std::string_view::npos)
      throw;
    throw ValueError(str_cat(error.what(), "; did the run begin with ", option, ' ', value, '?',
                             advice.empty() ? "" : " ", advice));
  }
}

std::string describe(const TrainingResult& result, const std::filesystem::path& folder,
                     const std::string& command) {
  std::string text = str_cat(to_text(result.end), " after ", result.steps,
                             result.steps == 1 ? " step; " : " steps; ");
  const std::string last = (folder / "last.h5").string();
  if (result.best_step > 0)
    text += str_cat("weights in ", (folder / "best.h5").string(), " (best, step ", result.best_step,
                    ") and ", last, " (last step)");
  else
    text += "weights in " + last;
  if (result.end == StopReason::interrupted)
    text += str_cat("\ncontinue with: ", command, " --out ", folder.string(), " --resume");
  return str_cat(text, "\nreport in ", (folder / "report.html").string());
}

}  // namespace weft::examples
