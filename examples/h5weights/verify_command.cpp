#include <iostream>

#include <weft/autograd/error.hpp>
#include "examples/h5weights/commands.hpp"
#include "examples/h5weights/formats.hpp"
#include "examples/h5weights/options.hpp"
#include "examples/h5weights/statistics.hpp"
#include "examples/h5weights/weights_file.hpp"

namespace weft::h5weights {
namespace {

struct Checked {
  std::size_t datasets = 0, others = 0;
  std::uintmax_t numbers = 0;
};

// Throws Error unless all elements of a dataset can be read and all its numbers are finite.
void check(const TensorFile& file, const std::string& path, Checked& checked) {
  const StoredDataset dataset = file.dataset(path);
  const Kind kind = kind_of(dataset.type());
  const Shape shape = dataset.shape();
  const bool is_number = kind == Kind::floating || kind == Kind::integer;
  if (!is_number && (kind == Kind::other || shape.elements() != 1)) {
    ++checked.others;
    return;
  }
  ++checked.datasets;
  if (kind == Kind::text) static_cast<void>(dataset.value<std::string>());
  if (kind == Kind::wide_integer) static_cast<void>(dataset.value<std::int64_t>());
  if (!is_number) return;
  const Statistics statistics = statistics_of(Numbers(dataset));
  checked.numbers += static_cast<std::uintmax_t>(shape.elements());
  if (const auto first = statistics.first_non_finite)
    fail<NonFiniteError>(str_cat("'", file.path().string(), "' ", path), "finite numbers",
                         str_cat(statistics.nans, " NaN and ", statistics.infinities,
                                 " infinite numbers, the first at ", shape.position(*first)));
}

}  // namespace

int verify(int argc, char** argv) {
  std::vector<std::string> files;
  examples::CommandLine line(
      "h5weights verify",
      "Checks that the datasets of a file are complete, that all numbers are "
      "finite, and that the checksum, if the file has one, is valid.");
  if (!parse_files(line, argc, argv, {"FILE"}, files)) return 0;

  const WeightsFile weights(files[0]);
  Checked checked;
  std::size_t errors = 0;
  for (const std::string& path : weights.file.datasets()) {
    try {
      check(weights.file, path, checked);
    } catch (const Error& error) {
      std::cerr << "h5weights verify: " << error.what() << '\n';
      ++errors;
    }
  }
  if (errors > 0) return 1;
  std::cout << files[0] << ": " << counted(checked.datasets, "dataset") << " complete, "
            << counted(checked.numbers, "number") << " finite, "
            << (weights.has_checksum ? "checksum valid" : "no checksum");
  if (checked.others > 0)
    std::cout << "; " << counted(checked.others, "dataset") << " of other types not checked";
  std::cout << '\n';
  return 0;
}

}  // namespace weft::h5weights
