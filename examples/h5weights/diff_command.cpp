#include <iostream>
#include <set>

#include <weft/autograd/error.hpp>
#include "examples/common/colours.hpp"
#include "examples/h5weights/commands.hpp"
#include "examples/h5weights/difference.hpp"
#include "examples/h5weights/formats.hpp"
#include "examples/h5weights/options.hpp"
#include "examples/h5weights/weights_file.hpp"

namespace weft::h5weights {
namespace {

using Paths = std::map<std::string, std::string>;

// Returns the parameters of a weft checkpoint, with "model." removed from their names.
Paths below_model(const Paths& paths) {
  const std::string group = "model.";
  Paths below;
  for (const auto& [name, path] : paths)
    if (name.starts_with(group)) below.emplace(name.substr(group.size()), path);
  return below;
}

bool is_checkpoint(const WeightsFile& weights) { return weights.file.has_group("/model"); }

class Comparison {
 public:
  Comparison(const WeightsFile& a, const WeightsFile& b, double tolerance)
      : a_(a), b_(b), tolerance_(tolerance) {}

  // Compares datasets of the same name.
  void add(const std::string& name, const std::string& path_a, const std::string& path_b) {
    const StoredDataset a = a_.file.dataset(path_a), b = b_.file.dataset(path_b);
    const Shape shape = a.shape();
    ++compared_;
    if (shape != b.shape()) return add_line(name, str_cat("shapes ", shape, " and ", b.shape()));
    const Difference difference = difference_of(a, b);
    if (!(difference.absolute > tolerance_)) return;
    add_line(name, str_cat(shape, ": largest difference ", rounded(difference.absolute), " at ",
                           shape.position(difference.position), ", relative ",
                           rounded(difference.relative)));
  }

  void add_missing(const std::string& name, const WeightsFile& weights, const std::string& path) {
    add_line(name, str_cat(weights.file.shape(path), ": only in ",
                           printable(weights.file.path().string())));
  }

  // Prints the number of differences. Returns true if no difference was found.
  bool report() const {
    if (different_ == 0) {
      std::cout << counted(compared_, "dataset")
                << (tolerance_ > 0 ? " equal within the tolerance\n" : " equal\n");
      return true;
    }
    std::cout << colours_.bold(counted(different_, "difference")) << " in "
              << counted(compared_, "dataset") << " of both files\n";
    return false;
  }

 private:
  void add_line(const std::string& name, const std::string& text) {
    ++different_;
    std::cout << colours_.red(printable(name)) << "  " << text << '\n';
  }

  const WeightsFile &a_, &b_;
  double tolerance_;
  examples::Colours colours_;
  std::size_t compared_ = 0, different_ = 0;
};

}  // namespace

int diff(int argc, char** argv) {
  std::vector<std::string> files;
  double tolerance = 0.0;
  examples::CommandLine line(
      "h5weights diff",
      "Compares the datasets of the same name in two files, and prints the "
      "largest difference of each. Exits with 0 if the files are equal, 1 if "
      "they differ, and 2 on errors.");
  line.option("tolerance", "maximum difference of numbers that count as equal", tolerance, 0.0,
              1e300);
  if (!parse_files(line, argc, argv, {"A", "B"}, files)) return 0;

  const WeightsFile a(files[0]), b(files[1]);
  Paths in_a = a.paths_by_name(), in_b = b.paths_by_name();
  if (is_checkpoint(a) != is_checkpoint(b))
    (is_checkpoint(a) ? in_a : in_b) = below_model(is_checkpoint(a) ? in_a : in_b);
  std::set<std::string> names;
  for (const Paths& paths : {in_a, in_b})
    for (const auto& [name, path] : paths) names.insert(name);

  Comparison comparison(a, b, tolerance);
  for (const std::string& name : names) {
    const auto left = in_a.find(name), right = in_b.find(name);
    if (right == in_b.end())
      comparison.add_missing(name, a, left->second);
    else if (left == in_a.end())
      comparison.add_missing(name, b, right->second);
    else
      comparison.add(name, left->second, right->second);
  }
  return comparison.report() ? 0 : 1;
}

}  // namespace weft::h5weights
