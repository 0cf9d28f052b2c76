#include "examples/gpt/saved_model.hpp"

#include <weft/autograd/error.hpp>
#include <weft/train/hdf5/hdf5_file.hpp>
#include <weft/train/weights/weights.hpp>
#include "examples/gpt/configuration.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

// Throws FileError when the file has fewer elements than the weights of such a model, before memory
// for them is allocated.
void check_size(const GptOptions& options, const fs::path& config, const fs::path& weights) {
  const auto number = [](Index index) { return static_cast<double>(index); };
  const double width = number(options.num_hiddens),
               ffn = number(options.ffn_num_hiddens.value_or(4 * options.num_hiddens)),
               block = width * (4 * width + 2 * ffn),
               expected = width * number(options.vocabulary_size + options.max_len) +
                          number(options.num_blocks) * block;
  const Hdf5File file(weights);
  double elements = 0;
  for (const std::string& path : file.datasets()) elements += number(file.shape(path).elements());
  if (elements < expected)
    fail<FileError>("weights '" + weights.string() + '\'',
                    concatenate_text("at least the ", expected, " weights of ", config.string()),
                    elements);
}

// The random weights are overwritten by those of the file. A model may have more tokens than the
// vocabulary: nanoGPT rounds their number up to a multiple of 64.
Gpt<float> initial_model(const fs::path& config, const BytePairEncoding& encoding,
                         const fs::path& weights) {
  const GptOptions options = gpt_options(config);
  if (options.vocabulary_size < encoding.size())
    fail<FileError>("configuration '" + config.string() + "': vocab_size",
                    concatenate_text("at least the ", encoding.size(), " tokens of vocab.json"),
                    options.vocabulary_size);
  check_size(options, config, weights);
  Random random(0);
  try {
    return Gpt<float>(options, random);
  } catch (const Error& error) {
    fail<FileError>("configuration '" + config.string() + '\'', "settings of a model",
                    error.what());
  }
}

}  // namespace

SavedModel::SavedModel(const fs::path& folder)
    : encoding(BytePairEncoding::load(folder / "vocab.json", folder / "merges.txt")),
      model(initial_model(folder / "config.json", encoding, folder / "model.h5")) {
  (void)load_weights(folder / "model.h5", model);
}

}  // namespace weft::gpt
