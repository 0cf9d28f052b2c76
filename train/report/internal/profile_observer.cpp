#include "train/report/internal/profile_observer.hpp"

#include <string>

#include "weft/autograd/error.hpp"

namespace weft {

template <class T>
void ProfileObserver<T>::end(const TrainingResult&) {
  profile_.count_memory(optimizer_, parts_);
  const std::string phases = profile_.phase_table(), operations = profile_.operation_table(),
                    memory = profile_.memory_table();
  line_.message(str_cat(phases, '\n', operations, '\n', memory));
  if (!report_) return;
  ReportSection section;
  section.preformatted("Phases of a step", phases);
  section.preformatted("Operations", operations);
  section.flame_graph("Where the time goes", profile_);
  section.preformatted("Layers", profile_.layer_table());
  section.preformatted("Memory at its peak", memory);
  report_->set_section("Profile", section);
  try {
    profile_.write_trace(folder_ / "trace.json");
  } catch (const FileError& error) {
    line_.message(str_cat("warning: the trace is missing: ", error.what()));
  }
}

template class ProfileObserver<float>;
template class ProfileObserver<double>;

}  // namespace weft
