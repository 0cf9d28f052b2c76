// heads_study: shows why attention has several heads. Prints statistics of each head of a trained
// pronunciation model, and the error rates of models that have 1, 2, 4 and 8 heads but the same
// number of parameters.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <numeric>

#include "examples/common/attention_maps.hpp"
#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"
#include "examples/pronounce/evaluation.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/saved_model.hpp"
#include "examples/pronounce/training.hpp"

namespace {

using namespace weft;
using namespace weft::pronounce;
namespace fs = std::filesystem;

struct Options {
  std::string model = default_model;
  std::string dictionary = default_dictionary;
  std::string out = "build/tour";
  std::int64_t words = 300;
  std::int64_t epochs = 1;
  Precision precision = Precision::full;
};

// --- Statistics of heads ----------------------------------------------------------------------

// The attention weights of one query over the keys that are not masked. They sum to 1.
using Row = std::vector<double>;

// Returns the entropy in bits: 0 for a single key, log2 n for uniform weights over n keys.
double entropy(const Row& row) {
  double sum = 0.0;
  for (const double weight : row)
    if (weight > 0.0) sum -= weight * std::log2(weight);
  return sum;
}

// Returns 1 - the Jensen-Shannon divergence in bits (Lin, 1991): 1 for equal rows, 0 for rows
// without common keys.
double similarity(const Row& a, const Row& b) {
  Row mean(a.size());
  for (std::size_t key = 0; key < a.size(); ++key) mean[key] = (a[key] + b[key]) / 2.0;
  return 1.0 - (entropy(mean) - (entropy(a) + entropy(b)) / 2.0);
}

// The histograms of offsets range from -max_offset to max_offset.
constexpr Index max_offset = 4;

// Statistics of a head, summed over queries.
struct HeadStatistics {
  HeadStatistics(std::string head_name, std::size_t heads)
      : name(std::move(head_name)), offset_weights(2 * max_offset + 1), similarity(heads) {}

  std::string name;  // "block.head"
  double entropy = 0.0;
  double distance = 0.0;               // Σ weight · |offset|
  double offset = 0.0;                 // Σ weight · offset
  std::vector<double> offset_weights;  // the weight at each offset from -max_offset to max_offset
  std::vector<double> similarity;      // to each head

  // `centre` is the key position that corresponds to the query position.
  void add(const Row& row, double centre) {
    entropy += ::entropy(row);
    for (std::size_t key = 0; key < row.size(); ++key) {
      const double key_offset = static_cast<double>(key) - centre;
      distance += row[key] * std::abs(key_offset);
      offset += row[key] * key_offset;
      const auto rounded = static_cast<Index>(std::lround(key_offset));
      if (std::abs(rounded) <= max_offset)
        offset_weights[static_cast<std::size_t>(rounded + max_offset)] += row[key];
    }
  }
};

// Statistics of the heads of all blocks for one kind of attention, such as encoder self-attention.
class AttentionStatistics {
 public:
  AttentionStatistics(std::string name, bool causal, Index blocks, Index heads)
      : name_(std::move(name)), causal_(causal), heads_in_block_(heads) {
    for (Index block = 1; block <= blocks; ++block)
      for (Index head = 1; head <= heads; ++head)
        heads_.emplace_back(str_cat(block, '.', head), static_cast<std::size_t>(blocks * heads));
  }

  // Adds the attention weights of one word, [1, heads, queries, keys] for each block.
  void add(const std::vector<Tensor<float>>& blocks) {
    const Index queries = blocks[0].shape()[2], keys = blocks[0].shape()[3];
    for (Index query = 0; query < queries; ++query) {
      const Index visible_keys = causal_ ? query + 1 : keys;
      if (visible_keys < 2) continue;  // the weight of a single key is always 1
      // The key at the same relative position: the sequences may have different lengths.
      const double centre =
          static_cast<double>(query * (keys - 1)) / static_cast<double>(queries - 1);
      std::vector<Row> rows;
      for (const Tensor<float>& weights : blocks)
        for (Index head = 0; head < heads_in_block_; ++head) {
          Row& row = rows.emplace_back();
          for (Index key = 0; key < visible_keys; ++key)
            row.push_back(weights(0, head, query, key));
        }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        heads_[i].add(rows[i], centre);
        for (std::size_t k = 0; k < rows.size(); ++k)
          heads_[i].similarity[k] += similarity(rows[i], rows[k]);
      }
      uniform_.add(
          Row(static_cast<std::size_t>(visible_keys), 1.0 / static_cast<double>(visible_keys)),
          centre);
      ++queries_;
    }
  }

  const std::string& name() const { return name_; }
  const std::vector<HeadStatistics>& heads() const { return heads_; }
  // The statistics of uniform attention weights.
  const HeadStatistics& uniform() const { return uniform_; }
  // Returns `sum` divided by the number of queries.
  double mean(double sum) const { return sum / static_cast<double>(std::max<Index>(queries_, 1)); }
  // Returns the mean similarity of a head to the other heads of its block.
  double similarity_in_block(std::size_t head) const {
    const auto in_block = static_cast<std::size_t>(heads_in_block_);
    if (in_block < 2) return 1.0;
    const auto first =
        heads_[head].similarity.begin() + static_cast<std::ptrdiff_t>(head / in_block * in_block);
    const double total = std::accumulate(first, first + heads_in_block_, 0.0);
    return mean(total - heads_[head].similarity[head]) / static_cast<double>(in_block - 1);
  }

 private:
  std::string name_;
  bool causal_;
  Index heads_in_block_;
  std::vector<HeadStatistics> heads_;
  HeadStatistics uniform_{"uniform", 0};
  Index queries_ = 0;
};

// Runs the model on words with their dictionary pronunciations (teacher forcing) and collects the
// statistics of its heads.
std::vector<AttentionStatistics> collect_statistics(const SavedModel& saved,
                                                    std::vector<SequencePair> pairs) {
  const Index blocks = saved.configuration.layers, heads = saved.configuration.heads;
  std::vector<AttentionStatistics> attentions{{"encoder self-attention", false, blocks, heads},
                                              {"decoder self-attention", true, blocks, heads},
                                              {"cross-attention", false, blocks, heads}};
  PairBatches words(std::move(pairs), {.batch_size = 1, .shuffle = false});
  Tape tape({.recording = false, .keep_attention_weights = true});
  for (Index i = 0; i < words.num_batches(); ++i) {
    const PairBatch word = words.batch(0, i);
    const Var memory = saved.model.encode(tape, word.source.tokens, word.source.valid_lens);
    attentions[0].add(tape.take_attention_weights());
    saved.model.decode(word.target.tokens, memory, word.source.valid_lens);
    const auto decoder = examples::decoder_attention_weights(tape.take_attention_weights());
    attentions[1].add(decoder.self);
    attentions[2].add(decoder.cross);
    tape.clear();
  }
  return attentions;
}

// Returns `count` evenly spaced pairs, so that all initial letters occur.
std::vector<SequencePair> subsample(const std::vector<SequencePair>& pairs, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(pairs.size());
  std::vector<SequencePair> sample;
  for (std::int64_t i = 0; i < std::min(count, size); ++i)
    sample.push_back(pairs[static_cast<std::size_t>(i * size / std::min(count, size))]);
  return sample;
}

// Rounds to hundredths; small negative values become 0, not -0.
double round_to_hundredths(double value) { return std::round(value * 100.0) / 100.0 + 0.0; }

void print_heads(const std::vector<AttentionStatistics>& attentions) {
  std::cout << std::fixed << std::setprecision(2);
  std::string least_similar;
  double lowest = 2.0;
  for (const AttentionStatistics& attention : attentions) {
    std::cout << '\n' << attention.name() << "\n     head  entropy  distance  offset  similarity\n";
    const auto print = [&](const HeadStatistics& head) {
      std::cout << "  " << std::setw(7) << head.name << std::setw(9) << attention.mean(head.entropy)
                << std::setw(10) << attention.mean(head.distance) << std::setw(8) << std::showpos
                << round_to_hundredths(attention.mean(head.offset)) << std::noshowpos;
    };
    for (std::size_t i = 0; i < attention.heads().size(); ++i) {
      const HeadStatistics& head = attention.heads()[i];
      print(head);
      const double similarity = attention.similarity_in_block(i);
      std::cout << std::setw(12) << similarity << '\n';
      if (similarity >= lowest) continue;
      lowest = similarity;
      least_similar = "head " + head.name + " of the " + attention.name();
    }
    print(attention.uniform());
    std::cout << '\n';
  }
  std::cout << "\nThe head with the lowest similarity is " << least_similar
            << ".\nSeveral heads can attend to different positions; a single head outputs one "
               "weighted average.\n";
}

// Draws a heat map for each kind of attention. Each row is the mean of a head's member `sums`.
std::string draw_heads(const std::string& title, const std::string& x_label,
                       const std::vector<std::string>& columns,
                       std::vector<double> HeadStatistics::*sums,
                       const std::vector<AttentionStatistics>& attentions,
                       const fs::path& picture) {
  examples::HeatMaps maps;
  maps.title = title;
  maps.x_label = x_label;
  maps.y_label = "block.head";
  maps.columns = columns;
  for (const HeadStatistics& head : attentions[0].heads()) maps.rows.push_back(head.name);
  for (const AttentionStatistics& attention : attentions) {
    Tensor<float> values({std::ssize(maps.rows), std::ssize(maps.columns)});
    float* value = values.data();
    for (const HeadStatistics& head : attention.heads())
      for (const double sum : head.*sums) *value++ = static_cast<float>(attention.mean(sum));
    maps.maps.push_back({attention.name(), values});
  }
  return examples::draw(maps, picture);
}

std::string draw_offsets(const std::vector<AttentionStatistics>& attentions,
                         const fs::path& picture) {
  std::vector<std::string> offsets;
  for (Index offset = -max_offset; offset <= max_offset; ++offset)
    offsets.push_back(str_cat(offset > 0 ? "+" : "", offset));
  return draw_heads("Attention weight of each head by offset", "offset, in positions", offsets,
                    &HeadStatistics::offset_weights, attentions, picture);
}

std::string draw_similarities(const std::vector<AttentionStatistics>& attentions,
                              const fs::path& picture) {
  std::vector<std::string> names;
  for (const HeadStatistics& head : attentions[0].heads()) names.push_back(head.name);
  return draw_heads("Similarity of heads: 1 - Jensen-Shannon divergence of the attention weights",
                    "block.head", names, &HeadStatistics::similarity, attentions, picture);
}

void print_head_statistics(const SavedModel& saved, const Dataset& dataset,
                           const Options& options) {
  const std::vector<SequencePair> pairs =
      subsample(saved.language.pairs(dataset.test), options.words);
  const std::vector<AttentionStatistics> attentions = collect_statistics(saved, pairs);
  std::cout
      << "Statistics of the attention heads of " << options.model << ",\nmeans over "
      << pairs.size()
      << " held-out words:\n\n"
         "  entropy     entropy of the attention weights, in bits\n"
         "  distance    weighted mean of |key - query|, in positions\n"
         "  offset      weighted mean of key - query, in positions\n"
         "  similarity  1 - the Jensen-Shannon divergence of the attention weights, in bits,\n"
         "              averaged over the other heads of the block; 1 for equal weights\n\n"
         "For cross-attention, the position of a phone is scaled to the length of the word.\n"
         "The row “uniform” shows the values of uniform attention weights.\n";
  print_heads(attentions);
  std::cout << '\n'
            << draw_offsets(attentions, fs::path(options.out) / "heads_offsets.svg") << '\n'
            << draw_similarities(attentions, fs::path(options.out) / "heads_similarity.svg")
            << '\n';
}

// --- Number of heads --------------------------------------------------------------------------

// Trains models that differ only in the number of heads, and prints their error rates. Returns the
// exit status.
int compare_numbers_of_heads(const Dataset& dataset, const Options& options,
                             ProcessGroup& processes) {
  Configuration configuration = Configuration::quick();
  configuration.epochs = options.epochs;
  configuration.qk_norm = false;  // the size of its weights depends on the number of heads
  const Language language = Language::of(dataset.train);
  language.store_in(configuration);
  std::cout << "\nModels of width " << configuration.width
            << " that differ only in the number of heads, "
            << "each trained for " << options.epochs << " epoch" << (options.epochs > 1 ? "s" : "")
            << ".\nWord and phone error rates (WER and PER) on " << dataset.test.size()
            << " test words:\n\n"
               "  heads  head size  parameters      WER      PER  training\n"
            << std::flush;
  const SignalHandler interrupt;
  double word_error_rate = 0.0;
  for (const std::int64_t heads : {1, 2, 4, 8}) {
    configuration.heads = heads;
    Random random(static_cast<std::uint64_t>(configuration.seed));
    Pronouncer<float> model(configuration, language, random);
    const auto start = std::chrono::steady_clock::now();
    const TrainingResult result = train_model(model, configuration, language, dataset,
                                              {.output = &std::cerr,
                                               .interrupt = &interrupt,
                                               .precision = options.precision,
                                               .processes = &processes});
    if (result.end == StopReason::interrupted) {
      std::cout << "\ninterrupted during training with " << heads
                << (heads > 1 ? " heads\n" : " head\n");
      return result.exit_status;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const ErrorRates rates = error_rates(model, language, dataset.test);
    word_error_rate = rates.word_error_rate();
    std::cout << std::fixed << std::setw(7) << heads << std::setw(11) << configuration.width / heads
              << std::setw(12) << count_parameters(model) << std::setprecision(1) << std::setw(7)
              << word_error_rate << " %" << std::setw(7) << rates.phone_error_rate() << " %"
              << std::setprecision(0) << std::setw(8) << seconds.count() << " s" << std::endl;
  }
  const double p = word_error_rate / 100.0;
  std::cout << "\nThe standard error of the word error rate is " << std::setprecision(1)
            << 100.0 * std::sqrt(p * (1.0 - p) / static_cast<double>(dataset.test.size()))
            << " percentage points, without the\nvariation between seeds.\n";
  return interrupt.exit_status();
}

int run(ProcessGroup& processes, int argc, char** argv) {
  Options options;
  examples::CommandLine line("heads_study",
                             "Prints statistics of the attention heads of a trained pronunciation "
                             "model, and compares models with 1, 2, 4 and 8 heads.");
  model_option(line, options.model);
  dictionary_option(line, options.dictionary);
  line.option("out", "output directory for plots", options.out);
  line.option("words", "number of test words for the statistics", options.words, 1, 1'000'000);
  line.option("epochs", "training epochs of the models with 1, 2, 4 and 8 heads; 0 skips them",
              options.epochs, 0, 1000);
  line.choice("precision", "precision of the inputs of matrix products in training",
              options.precision);
  if (!line.parse(argc, argv)) return 0;
  if (options.epochs == 0) line.without_effect({"precision"}, "with --epochs 0");
  const fs::path out = options.out;
  examples::make_directory(out);
  examples::check_picture(out / "heads_offsets.svg", {options.model, options.dictionary});
  examples::check_picture(out / "heads_similarity.svg", {options.model, options.dictionary});
  if (!fs::exists(options.model))
    fail<FileError>("model '" + options.model + "'",
                    "a checkpoint written by `build/examples/pronounce train`", "no such file");

  const SavedModel saved(options.model);
  const Dataset dataset(options.dictionary, processes);
  if (saved.language.pairs(dataset.test).empty())
    fail<FileError>("dictionary '" + options.dictionary + "'", "test words", "none");
  if (processes.is_root()) print_head_statistics(saved, dataset, options);
  return options.epochs > 0 ? compare_numbers_of_heads(dataset, options, processes) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_training(
      "heads_study", [&](ProcessGroup& processes) { return run(processes, argc, argv); });
}
