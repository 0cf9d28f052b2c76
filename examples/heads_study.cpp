// heads_study: why attention has several heads. What each head of a trained model of pronunciation
// does, and how well models with 1, 2, 4 and 8 heads learn that have equally many parameters.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <numeric>

#include "examples/common/command_line.hpp"
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
};

// --- What each head does ----------------------------------------------------------------------

// The weights of one query: how much it attends to each key that it may see. They add up to 1.
using Row = std::vector<double>;

// In bits: 0 when all of the attention is on one key, log2 n when it is spread evenly over n.
double entropy(const Row& row) {
  double sum = 0.0;
  for (const double weight : row)
    if (weight > 0.0) sum -= weight * std::log2(weight);
  return sum;
}

// 1 less the Jensen-Shannon divergence in bits (Lin, 1991): 1 for rows that are equal, 0 for rows
// that attend to no key in common.
double similarity(const Row& a, const Row& b) {
  Row middle(a.size());
  for (std::size_t key = 0; key < a.size(); ++key) middle[key] = (a[key] + b[key]) / 2.0;
  return 1.0 - (entropy(middle) - (entropy(a) + entropy(b)) / 2.0);
}

// Offsets up to this far are drawn one by one.
constexpr Index reach = 4;

// What a head does, added up over many queries.
struct Head {
  Head(std::string head_name, std::size_t heads)
      : name(std::move(head_name)), by_offset(2 * reach + 1), similarity(heads) {}

  std::string name;  // "block.head"
  double entropy = 0.0;
  double distance = 0.0;           // Σ weight |offset|
  double offset = 0.0;             // Σ weight · offset
  std::vector<double> by_offset;   // the weight at each offset of -reach … reach
  std::vector<double> similarity;  // to each head

  // `centre`: the key that stands where the query does.
  void add(const Row& row, double centre) {
    entropy += ::entropy(row);
    for (std::size_t key = 0; key < row.size(); ++key) {
      const double from_centre = static_cast<double>(key) - centre;
      distance += row[key] * std::abs(from_centre);
      offset += row[key] * from_centre;
      const auto rounded = static_cast<Index>(std::lround(from_centre));
      if (std::abs(rounded) <= reach)
        by_offset[static_cast<std::size_t>(rounded + reach)] += row[key];
    }
  }
};

// All heads of all blocks that attend from and to the same.
class Attention {
 public:
  Attention(std::string name, bool causal, Index blocks, Index heads)
      : name_(std::move(name)), causal_(causal), heads_in_block_(heads) {
    for (Index block = 1; block <= blocks; ++block)
      for (Index head = 1; head <= heads; ++head)
        heads_.emplace_back(concatenate_text(block, '.', head),
                            static_cast<std::size_t>(blocks * heads));
  }

  // Adds what one word's weights show: [1, heads, queries, keys] for each block.
  void add(const std::vector<Tensor<float>>& blocks) {
    const Index queries = blocks[0].shape()[2], keys = blocks[0].shape()[3];
    for (Index query = 0; query < queries; ++query) {
      const Index seen = causal_ ? query + 1 : keys;
      if (seen < 2) continue;  // one key leaves no choice
      // A position of its own sequence, or what lies as far in a sequence of another length.
      const double centre =
          static_cast<double>(query * (keys - 1)) / static_cast<double>(queries - 1);
      std::vector<Row> rows;
      for (const Tensor<float>& weights : blocks)
        for (Index head = 0; head < heads_in_block_; ++head) {
          Row& row = rows.emplace_back();
          for (Index key = 0; key < seen; ++key) row.push_back(weights(0, head, query, key));
        }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        heads_[i].add(rows[i], centre);
        for (std::size_t k = 0; k < rows.size(); ++k)
          heads_[i].similarity[k] += similarity(rows[i], rows[k]);
      }
      even_.add(Row(static_cast<std::size_t>(seen), 1.0 / static_cast<double>(seen)), centre);
      ++queries_;
    }
  }

  const std::string& name() const { return name_; }
  const std::vector<Head>& heads() const { return heads_; }
  // What a head would do that attends to all keys alike.
  const Head& even() const { return even_; }
  // The mean over queries of what was added up.
  double mean(double sum) const { return sum / static_cast<double>(std::max<Index>(queries_, 1)); }
  // The mean similarity to the other heads of its block.
  double similarity_in_block(std::size_t head) const {
    const auto in_block = static_cast<std::size_t>(heads_in_block_);
    if (in_block < 2) return 1.0;
    const auto first =
        heads_[head].similarity.begin() + static_cast<std::ptrdiff_t>(head / in_block * in_block);
    const double all = std::accumulate(first, first + heads_in_block_, 0.0);
    return mean(all - heads_[head].similarity[head]) / static_cast<double>(in_block - 1);
  }

 private:
  std::string name_;
  bool causal_;
  Index heads_in_block_;
  std::vector<Head> heads_;
  Head even_{"even", 0};
  Index queries_ = 0;
};

// Lets the model read words and say them as the dictionary does, and watches its heads.
std::vector<Attention> watch(const SavedModel& saved, std::vector<SequencePair> pairs) {
  const Index blocks = saved.configuration.layers, heads = saved.configuration.heads;
  std::vector<Attention> attentions{{"encoder, letters to letters", false, blocks, heads},
                                    {"decoder, phones to phones", true, blocks, heads},
                                    {"decoder, phones to letters", false, blocks, heads}};
  PairBatches words(std::move(pairs), {.batch_size = 1, .shuffle = false});
  Tape tape = Tape<float>::inference();
  for (Index i = 0; i < words.num_batches(); ++i) {
    const Batch word = words.batch(0, i);
    AttentionWeights<float> encoder, decoder;
    const Var memory = saved.model.encode(tape, word.source, &encoder);
    saved.model.decode(word.target.tokens, memory, word.source.valid_lens, &decoder);
    attentions[0].add(encoder.self);
    attentions[1].add(decoder.self);
    attentions[2].add(decoder.cross);
    tape.clear();
  }
  return attentions;
}

// Every n-th of the words, so that all initial letters are among them.
std::vector<SequencePair> some_of(const std::vector<SequencePair>& pairs, std::int64_t count) {
  const auto all = static_cast<std::int64_t>(pairs.size());
  std::vector<SequencePair> some;
  for (std::int64_t i = 0; i < std::min(count, all); ++i)
    some.push_back(pairs[static_cast<std::size_t>(i * all / std::min(count, all))]);
  return some;
}

// Rounded to hundredths, so that nothing is written as -0.00.
double rounded(double value) { return std::round(value * 100.0) / 100.0 + 0.0; }

void write_heads(const std::vector<Attention>& attentions) {
  std::cout << std::fixed << std::setprecision(2);
  std::string least_alike;
  double least = 2.0;
  for (const Attention& attention : attentions) {
    std::cout << '\n' << attention.name() << "\n  head  entropy  distance  offset  similarity\n";
    const auto write = [&](const Head& head) {
      std::cout << "  " << std::setw(4) << head.name << std::setw(9) << attention.mean(head.entropy)
                << std::setw(10) << attention.mean(head.distance) << std::setw(8) << std::showpos
                << rounded(attention.mean(head.offset)) << std::noshowpos;
    };
    for (std::size_t i = 0; i < attention.heads().size(); ++i) {
      const Head& head = attention.heads()[i];
      write(head);
      const double similarity = attention.similarity_in_block(i);
      std::cout << std::setw(12) << similarity << '\n';
      if (similarity >= least) continue;
      least = similarity;
      least_alike = "head " + head.name + " of “" + attention.name() + "”";
    }
    write(attention.even());
    std::cout << '\n';
  }
  std::cout << "\nMost on its own is " << least_alike
            << ".\nHeads that attend to different places are what several heads are for: a single "
               "one could only\ngive the average of what stands there.\n";
}

// Draws a row a head, of what `sums` names of it, in a map for each attention.
std::string draw_heads(const std::string& title, const std::string& x_label,
                       const std::vector<std::string>& columns, std::vector<double> Head::*sums,
                       const std::vector<Attention>& attentions, const fs::path& picture) {
  examples::HeatMaps maps;
  maps.title = title;
  maps.x_label = x_label;
  maps.y_label = "block.head";
  maps.columns = columns;
  for (const Head& head : attentions[0].heads()) maps.rows.push_back(head.name);
  for (const Attention& attention : attentions) {
    Tensor<float> values({std::ssize(maps.rows), std::ssize(maps.columns)});
    float* value = values.data();
    for (const Head& head : attention.heads())
      for (const double sum : head.*sums) *value++ = static_cast<float>(attention.mean(sum));
    maps.maps.push_back({attention.name(), values});
  }
  return examples::draw(maps, picture);
}

std::string draw_offsets(const std::vector<Attention>& attentions, const fs::path& picture) {
  std::vector<std::string> offsets;
  for (Index offset = -reach; offset <= reach; ++offset)
    offsets.push_back(concatenate_text(offset > 0 ? "+" : "", offset));
  return draw_heads("How much of its attention each head has at each offset",
                    "offset, in positions", offsets, &Head::by_offset, attentions, picture);
}

std::string draw_similarities(const std::vector<Attention>& attentions, const fs::path& picture) {
  std::vector<std::string> names;
  for (const Head& head : attentions[0].heads()) names.push_back(head.name);
  return draw_heads("How alike the heads attend: 1 less the Jensen-Shannon divergence",
                    "block.head", names, &Head::similarity, attentions, picture);
}

void study_heads(const SavedModel& saved, const Words& words, const Options& options) {
  const std::vector<SequencePair> pairs = some_of(saved.language.pairs(words.test), options.words);
  const std::vector<Attention> attentions = watch(saved, pairs);
  std::cout
      << "What the heads of " << options.model << " do, over " << pairs.size()
      << " words that it was not trained on.\n\n"
         "  entropy     of the attention weights, in bits: spread as over 2^entropy keys\n"
         "  distance    between a query and the keys attended to, in positions, by weight\n"
         "  offset      the same with its sign: below 0 before the query, above 0 after it\n"
         "  similarity  to the other heads of the block: 1 less the Jensen-Shannon divergence of\n"
         "              their weights, 1 when they attend to the same\n\n"
         "A phone's place among the letters is taken to be as far in the word as it is among the\n"
         "phones. “even” is a head that would attend to all keys alike.\n";
  write_heads(attentions);
  std::cout << '\n'
            << draw_offsets(attentions, fs::path(options.out) / "heads_offsets.svg") << '\n'
            << draw_similarities(attentions, fs::path(options.out) / "heads_similarity.svg")
            << '\n';
}

// --- What the number of heads is worth --------------------------------------------------------

// Trains models that differ in the number of heads alone, and counts their errors.
void compare_numbers_of_heads(const Words& words, const Options& options) {
  Configuration configuration = Configuration::quick();
  configuration.epochs = options.epochs;
  const Language language = Language::of(words.train);
  language.keep_in(configuration);
  std::cout << "\nModels of width " << configuration.width << " that differ in their heads alone, "
            << "each trained for " << options.epochs << " epoch" << (options.epochs > 1 ? "s" : "")
            << ".\nErrors on " << words.test.size()
            << " words held out:\n\n"
               "  heads  of size  parameters  wrong words  wrong phones  training\n"
            << std::flush;
  double wrong_words = 0.0;
  for (const std::int64_t heads : {1, 2, 4, 8}) {
    configuration.heads = heads;
    Random random(static_cast<std::uint64_t>(configuration.seed));
    Pronouncer<float> model(configuration, language, random);
    const auto start = std::chrono::steady_clock::now();
    train_model(model, configuration, language, words, {.output = &std::cerr});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const ErrorRates rates = error_rates(model, language, words.test);
    wrong_words = rates.word_error_rate();
    std::cout << std::fixed << std::setw(7) << heads << std::setw(9) << configuration.width / heads
              << std::setw(12) << count_parameters(model) << std::setprecision(1) << std::setw(11)
              << wrong_words << " %" << std::setw(12) << rates.phone_error_rate() << " %"
              << std::setprecision(0) << std::setw(8) << seconds.count() << " s" << std::endl;
  }
  const double share = wrong_words / 100.0;
  std::cout
      << "\nChance alone moves the share of wrong words by about ± " << std::setprecision(1)
      << 100.0 * std::sqrt(share * (1.0 - share) / static_cast<double>(words.test.size()))
      << "\n(one standard error over so many words); what another seed changes comes on top.\n";
}

int run(int argc, char** argv) {
  Options options;
  examples::CommandLine line("heads_study",
                             "Shows what each head of a trained model of pronunciation does, and "
                             "what the number of heads is worth.");
  model_option(line, options.model);
  dictionary_option(line, options.dictionary);
  line.option("out", "folder for pictures", options.out);
  line.option("words", "held-out words to watch the heads on", options.words, 1, 1'000'000);
  line.option("epochs", "to train models of 1, 2, 4 and 8 heads for; 0: none", options.epochs, 0,
              1000);
  if (!line.parse(argc, argv)) return 0;
  if (!fs::exists(options.model))
    fail<FileError>("model '" + options.model + "'",
                    "a checkpoint, as `build/examples/pronounce train` makes it in five minutes",
                    "no such file");

  const SavedModel saved(options.model);
  const Words words(options.dictionary);
  if (saved.language.pairs(words.test).empty())
    fail<FileError>("dictionary '" + options.dictionary + "'", "words held out for the test",
                    "none");
  examples::make_folder(options.out);
  study_heads(saved, words, options);
  if (options.epochs > 0) compare_numbers_of_heads(words, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_program("heads_study", [&] { return run(argc, argv); });
}
