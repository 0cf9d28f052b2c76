// ProfileObserver: shows the profile of a training run after its end.
#pragma once

#include <filesystem>

#include "weft/train/optim/optimizer.hpp"
#include "weft/train/report/profile.hpp"
#include "weft/train/report/progress_line.hpp"
#include "weft/train/training_observer.hpp"
#include "train/report/internal/report_observer.hpp"

namespace weft {

// Writes the tables to `line` and, if it is not null, to `report`, and a trace to the report's
// folder. `parts` is the number of parts that this process computes. All references must outlive
// the object.
template <class T>
class ProfileObserver final : public TrainingObserver {
 public:
  ProfileObserver(Profile& profile, const Optimizer<T>& optimizer, Index parts, ProgressLine& line,
                  ReportObserver* report, std::filesystem::path folder)
      : profile_(profile),
        optimizer_(optimizer),
        parts_(parts),
        line_(line),
        report_(report),
        folder_(std::move(folder)) {}

  void end(const TrainingResult& result) override;

 private:
  Profile& profile_;
  const Optimizer<T>& optimizer_;
  Index parts_;
  ProgressLine& line_;
  ReportObserver* report_;
  std::filesystem::path folder_;
};

extern template class ProfileObserver<float>;
extern template class ProfileObserver<double>;

}  // namespace weft
