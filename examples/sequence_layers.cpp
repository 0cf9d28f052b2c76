// sequence_layers: compares self-attention, convolution and recurrence (d2l.ai, section "Comparing
// CNNs, RNNs, and Self-Attention"). Measures how the time of a layer grows with the sequence
// length, and compares it with the theoretical complexity. Trains a small model of each kind to
// reverse a sequence, a task with short- and long-range dependencies.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>

#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

// The kernel size of the convolutional layers, and the number of layers in the convolutional model.
constexpr Index kernel_size = 3, num_convolutions = 4;

constexpr const char* times_picture = "sequence_layers_times.svg";
constexpr const char* accuracy_picture = "sequence_layers_accuracy.svg";
constexpr const char* distance_picture = "sequence_layers_distance.svg";

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// --- Time over sequence length ---------------------------------------------------------------

// One layer of each kind. Each maps [batch, time, width] to [batch, time, width].
struct LayerSet : Module<float> {
  LayerSet(Index width, Random& random)
      : attention(
            {.query_size = width, .key_size = width, .value_size = width, .num_hiddens = width},
            random),
        convolution({.in_channels = width,
                     .out_channels = width,
                     .kernel_size = kernel_size,
                     .padding = Padding::same},
                    random),
        rnn({.input_size = width, .num_hiddens = width}, random),
        gru({.input_size = width, .num_hiddens = width}, random) {}

  void members(Members<float>& members) const override {
    members("attention", attention);
    members("convolution", convolution);
    members("rnn", rnn);
    members("gru", gru);
  }

  MultiHeadAttention<float> attention;
  Conv1d<float> convolution;
  RNN<float> rnn;
  GRU<float> gru;
};

struct TimedLayer {
  std::string name;
  std::string complexity;  // the leading term, for n vectors of size d
  Index fit_from;  // the exponent is fitted to lengths ≥ fit_from, where this term dominates
  std::function<Var<float>(const Var<float>& x)> call;
};

std::vector<TimedLayer> timed_layers(const LayerSet& layers, Index width) {
  using X = const Var<float>&;
  return {// The projections take 4 n d² multiplications, the scores and outputs 2 n² d.
          {"self-attention", "n² · d", 16 * width, [&](X x) { return layers.attention(x, x, x); }},
          {"convolution", "n · k d²", 256, [&](X x) { return layers.convolution(x); }},
          {"RNN", "n · d²", 256, [&](X x) { return layers.rnn(x).states; }},
          {"GRU", "n · d²", 256, [&](X x) { return layers.gru(x).states; }}};
}

// Returns one line per layer: the median time of forward and backward over the length, in
// milliseconds. The layers are timed in turn, so that other load on the machine affects all layers
// equally. If interrupted, returns only the lengths at which all layers were timed.
std::vector<examples::Line> measure(const std::vector<TimedLayer>& layers,
                                    const NamedParameters<float>& parameters,
                                    const std::vector<Index>& lengths, Index batch, Index width,
                                    double seconds, const SignalHandler& interrupt) {
  Random random(2);
  Tape<float> tape;
  std::vector<Parameter<float>> inputs;
  std::vector<Tensor<float>> upstream;
  for (const Index length : lengths) {
    inputs.emplace_back(random.normal_tensor<float>({batch, length, width}));
    upstream.push_back(random.normal_tensor<float>({batch, length, width}));
  }
  std::vector<std::vector<std::vector<double>>> times(
      layers.size(), std::vector<std::vector<double>>(lengths.size()));
  const auto start = Clock::now();
  for (int round = 0; !interrupt.requested() && (round < 4 || seconds_since(start) < seconds);
       ++round)
    for (std::size_t j = 0; j < lengths.size(); ++j)
      for (std::size_t i = 0; i < layers.size(); ++i) {
        if (interrupt.requested()) break;
        inputs[j].zero_grad();
        for (const auto& [name, parameter] : parameters) parameter->zero_grad();
        const auto begin = Clock::now();
        tape.backward(layers[i].call(tape.parameter(inputs[j])), upstream[j]);
        if (round > 0)
          times[i][j].push_back(seconds_since(begin));  // the first round allocates memory
      }
  std::size_t timed = 0;  // lengths; the last layer is timed last
  while (timed < lengths.size() && !times.back()[timed].empty()) ++timed;
  std::vector<examples::Line> lines;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    lines.push_back({layers[i].name, {}, {}});
    for (std::size_t j = 0; j < timed; ++j) {
      lines[i].x.push_back(static_cast<double>(lengths[j]));
      lines[i].y.push_back(1e3 * median(times[i][j]));
    }
  }
  return lines;
}

// Returns the exponent of a power law, fitted by least squares in log-log space to the points from
// `first` on.
double fit_exponent(const examples::Line& line, std::size_t first) {
  double mean_x = 0.0, mean_y = 0.0, products = 0.0, squares = 0.0;
  const auto count = static_cast<double>(line.x.size() - first);
  for (std::size_t i = first; i < line.x.size(); ++i) {
    mean_x += std::log(line.x[i]) / count;
    mean_y += std::log(line.y[i]) / count;
  }
  for (std::size_t i = first; i < line.x.size(); ++i) {
    products += (std::log(line.x[i]) - mean_x) * (std::log(line.y[i]) - mean_y);
    squares += (std::log(line.x[i]) - mean_x) * (std::log(line.x[i]) - mean_x);
  }
  return products / squares;
}

void compare_times(Index batch, Index width, Index longest, double seconds, const fs::path& out,
                   const SignalHandler& interrupt) {
  std::vector<Index> lengths;
  for (Index length = 64; length <= longest; length *= 2) lengths.push_back(length);
  Random random(1);
  LayerSet layer_set(width, random);
  const std::vector<TimedLayer> layers = timed_layers(layer_set, width);
  std::cout << "Forward and backward of one layer of width " << width << " on " << batch
            << " sequences: median time in milliseconds\n\n"
            << std::flush;
  std::vector<examples::Line> lines =
      measure(layers, named_parameters(layer_set), lengths, batch, width, seconds, interrupt);
  lengths.resize(lines.front().x.size());
  if (lengths.size() < 2) return;  // too early for a fit

  std::cout << "length n";
  for (const examples::Line& line : lines) std::cout << std::setw(16) << line.name;
  std::cout << '\n' << std::fixed << std::setprecision(3);
  for (std::size_t j = 0; j < lengths.size(); ++j) {
    std::cout << std::setw(8) << lengths[j];
    for (const examples::Line& line : lines) std::cout << std::setw(16) << line.y[j];
    std::cout << '\n';
  }

  std::cout << "\nTime as a power of n, fitted by least squares in log-log space\n\n"
               "layer           measured        lengths   in theory\n"
            << std::setprecision(2);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    // At least two points.
    std::size_t first = 0;
    while (first + 2 < lengths.size() && lengths[first] < layers[i].fit_from) ++first;
    const double exponent = fit_exponent(lines[i], first);
    std::cout << std::left << std::setw(16) << layers[i].name << "  n^" << exponent << std::right
              << std::setw(8) << lengths[first] << " – " << std::left << std::setw(7)
              << lengths.back() << layers[i].complexity << std::right << '\n';
    lines[i].name = str_cat(std::fixed, std::setprecision(2), layers[i].name, ": n^", exponent);
  }
  std::cout
      << "\nConvolution and recurrence are linear in the sequence length, attention is quadratic "
         "for long\nsequences. The steps of a recurrence cannot run in parallel.\n"
      << draw(examples::LineChart{str_cat("Time of one layer of width ", width),
                                  "sequence length n", "forward and backward, ms", lines, true},
              out / times_picture)
      << '\n';
}

// --- Learning to reverse a sequence ----------------------------------------------------------

// The task: the input is `length` letters followed by `length` blanks. The labels at the blanks are
// the letters in reverse order, so the distances between letters and labels are 1, 3, 5, …
struct ReversalTask {
  static constexpr TokenId letters = 8, blank = letters;
  Index length;

  struct Examples {
    Tokens tokens;  // [batch, 2 · length]
    Tokens labels;  // [batch, 2 · length], ignore_index at the letters
  };

  Examples sample(Index batch, Random& random) const {
    Examples examples{Tokens({batch, 2 * length}), Tokens({batch, 2 * length})};
    examples.tokens.fill(blank);
    examples.labels.fill(CrossEntropyOptions{}.ignore_index);
    for (Index b = 0; b < batch; ++b)
      for (Index i = 0; i < length; ++i)
        examples.tokens(b, i) = examples.labels(b, 2 * length - 1 - i) =
            static_cast<TokenId>(random.below(letters));
    return examples;
  }
};

// A causal model from tokens to logits of letters. The subclasses define the hidden layers.
struct SequenceModel : Module<float> {
  SequenceModel(Index width, Random& random)
      : embedding({.num_embeddings = ReversalTask::letters + 1, .embedding_dim = width}, random),
        output({.in_features = width, .out_features = ReversalTask::letters}, random) {}

  // x and the result [batch, time, width].
  virtual Var<float> hidden(const Var<float>& x) const = 0;

  Var<float> operator()(Tape<float>& tape, const Tokens& tokens) const {
    return output(hidden(embedding(tape, tokens)));
  }

  void members(Members<float>& members) const override {
    members("embedding", embedding);
    members("output", output);
  }

  Embedding<float> embedding;
  Linear<float> output;
};

struct AttentionModel : SequenceModel {
  AttentionModel(Index width, Index time, Random& random)
      : SequenceModel(width, random),
        positions({.num_hiddens = width, .max_len = time, .standard_deviation = 1.0}, random),
        encoder({.num_blocks = 2,
                 .num_hiddens = width,
                 .ffn_num_hiddens = 2 * width,
                 .norm_first = true},
                random) {}

  Var<float> hidden(const Var<float>& x) const override {
    return encoder(positions(x), {.causal = true});
  }

  void members(Members<float>& members) const override {
    SequenceModel::members(members);
    members("positions", positions);
    members("encoder", encoder);
  }

  LearnedPositionalEncoding<float> positions;
  TransformerEncoder<float> encoder;
};

struct ConvolutionModel : SequenceModel {
  ConvolutionModel(Index width, Random& random) : SequenceModel(width, random) {
    for (Index i = 0; i < num_convolutions; ++i)
      layers.emplace_back(Conv1dOptions{.in_channels = width,
                                        .out_channels = width,
                                        .kernel_size = kernel_size,
                                        .padding = Padding::causal},
                          random);
  }

  Var<float> hidden(const Var<float>& x) const override {
    Var<float> y = x;
    for (const Conv1d<float>& layer : layers) y = y + relu(layer(y));
    return y;
  }

  void members(Members<float>& members) const override {
    SequenceModel::members(members);
    members("layers", layers);
  }

  std::vector<Conv1d<float>> layers;
};

template <class Layers>
struct RecurrentModel : SequenceModel {
  RecurrentModel(Index width, Random& random)
      : SequenceModel(width, random),
        layers({.input_size = width, .num_hiddens = width, .num_layers = 2}, random) {}

  Var<float> hidden(const Var<float>& x) const override { return layers(x).states; }

  void members(Members<float>& members) const override {
    SequenceModel::members(members);
    members("layers", layers);
  }

  Layers layers;
};

// A model in training, with its accuracy over time.
class TrainingRun {
 public:
  TrainingRun(std::string kind, std::unique_ptr<SequenceModel> model, const ReversalTask& task,
              Precision precision)
      : name(std::move(kind)),
        task_(task),
        model_(std::move(model)),
        optimizer_(*model_, {.lr = 2e-3, .weight_decay = 0.0}),
        pass_(named_parameters(*model_), parts, {.training = true, .precision = precision}) {}

  // Continues training to a total of `seconds`, or until interrupted, and evaluates on `test`.
  void train_until(double seconds, const ReversalTask::Examples& test,
                   const SignalHandler& interrupt) {
    while (trained_seconds_ < seconds && !interrupt.requested()) {
      const auto start = Clock::now();
      train_step();
      trained_seconds_ += seconds_since(start);
    }
    evaluate(test);
  }

  // Returns the accuracy of the letters [first, last) at the last evaluation. Letter 0 is the
  // nearest.
  double accuracy(Index first, Index last) const {
    double sum = 0.0;
    for (Index i = first; i < last; ++i) sum += letter_accuracy_[static_cast<std::size_t>(i)];
    return sum / static_cast<double>(last - first);
  }
  Index num_parameters() const { return count_parameters(*model_); }
  std::int64_t steps() const { return optimizer_.steps(); }
  // Returns the accuracy of all letters over the seconds of training.
  const examples::Line& curve() const { return curve_; }
  // Returns the accuracy at the last evaluation over the distance of the letter.
  examples::Line accuracy_by_distance() const {
    examples::Line line{name, {}, {}};
    for (Index i = 0; i < task_.length; ++i) {
      line.x.push_back(static_cast<double>(2 * i + 1));
      line.y.push_back(letter_accuracy_[static_cast<std::size_t>(i)]);
    }
    return line;
  }

  std::string name;

 private:
  static constexpr Index parts = 4, part_size = 16;

  void train_step() {
    std::vector<ReversalTask::Examples> batch;
    for (Index part = 0; part < parts; ++part) batch.push_back(task_.sample(part_size, random_));
    const CrossEntropyOptions options{.divisor =
                                          static_cast<double>(parts * part_size * task_.length)};
    const auto step = static_cast<std::uint32_t>(optimizer_.steps());
    pass_.add_gradients(step, parts, [&](Tape<float>& tape, Index part) {
      const ReversalTask::Examples& examples = batch[static_cast<std::size_t>(part)];
      return cross_entropy((*model_)(tape, examples.tokens), examples.labels, options);
    });
    optimizer_.step(clip_factor(optimizer_.grad_norm(), 1.0));
  }

  void evaluate(const ReversalTask::Examples& test) {
    Tape<float> tape = Tape<float>::inference();
    const Tensor<float> logits = (*model_)(tape, test.tokens).value();
    const Index batch = test.tokens.shape()[0];
    letter_accuracy_.assign(static_cast<std::size_t>(task_.length), 0.0);
    for (Index b = 0; b < batch; ++b)
      for (Index i = 0; i < task_.length; ++i) {
        const Index row = b * 2 * task_.length + task_.length + i;
        const float* row_logits = logits.data() + row * ReversalTask::letters;
        const auto best =
            std::max_element(row_logits, row_logits + ReversalTask::letters) - row_logits;
        if (best == test.labels.data()[row])
          letter_accuracy_[static_cast<std::size_t>(i)] += 1.0 / static_cast<double>(batch);
      }
    curve_.name = name;
    curve_.x.push_back(trained_seconds_);
    curve_.y.push_back(accuracy(0, task_.length));
  }

  ReversalTask task_;
  std::unique_ptr<SequenceModel> model_;
  AdamW<float> optimizer_;
  ParallelPass<float> pass_;
  Random random_{3};
  double trained_seconds_ = 0.0;
  std::vector<double> letter_accuracy_;
  examples::Line curve_;
};

void compare_learning(Index width, const ReversalTask& task, double seconds, const fs::path& out,
                      Precision precision, const SignalHandler& interrupt) {
  std::cout << "\nReversing " << task.length << " letters, after " << std::setprecision(0)
            << seconds
            << " s of training each: accuracy in %, over all letters and by distance in\n"
            << "positions (chance: " << std::setprecision(1) << 100.0 / ReversalTask::letters
            << " %)\n\n"
            << std::flush;
  Random random(4);
  const ReversalTask::Examples test = task.sample(500, random);
  std::deque<TrainingRun> runs;
  runs.emplace_back("self-attention",
                    std::make_unique<AttentionModel>(width, 2 * task.length, random), task,
                    precision);
  runs.emplace_back("convolution", std::make_unique<ConvolutionModel>(width, random), task,
                    precision);
  runs.emplace_back("RNN", std::make_unique<RecurrentModel<RNN<float>>>(width, random), task,
                    precision);
  runs.emplace_back("GRU", std::make_unique<RecurrentModel<GRU<float>>>(width, random), task,
                    precision);
  // Train the models in turn, so that other load on the machine affects all models equally.
  constexpr int rounds = 40;
  for (int round = 0; round == 0 || (round <= rounds && !interrupt.requested()); ++round)
    for (TrainingRun& run : runs) run.train_until(seconds * round / rounds, test, interrupt);
  if (interrupt.requested())
    std::cout << "interrupted; the accuracies are the last measured ones\n\n";

  std::cout << "layers          parameters   steps      all";
  const Index groups = std::min<Index>(4, task.length);
  for (Index group = 0; group < groups; ++group)
    std::cout << std::setw(10)
              << str_cat(2 * (group * task.length / groups) + 1, "–",
                         2 * ((group + 1) * task.length / groups) - 1)
              << (group + 1 < groups ? "" : "\n");
  examples::LineChart curves{
      "Reversing " + str_cat(task.length) + " letters", "training time, s", "accuracy", {}};
  examples::LineChart distances{"Accuracy by distance", "distance, in positions", "accuracy", {}};
  for (const TrainingRun& run : runs) {
    std::cout << std::left << std::setw(16) << run.name << std::right << std::setw(10)
              << run.num_parameters() << std::setw(8) << run.steps() << std::setw(9)
              << 100.0 * run.accuracy(0, task.length);
    for (Index group = 0; group < groups; ++group)
      std::cout << std::setw(8)
                << 100.0 * run.accuracy(group * task.length / groups,
                                        (group + 1) * task.length / groups);
    std::cout << '\n';
    curves.lines.push_back(run.curve());
    distances.lines.push_back(run.accuracy_by_distance());
  }
  std::cout
      << "\nAttention reaches every position in one layer. " << num_convolutions
      << " convolutions with kernel size " << kernel_size << " have a receptive\nfield of "
      << num_convolutions * (kernel_size - 1)
      << " previous positions and are at chance beyond it. A recurrence must keep all letters\nin "
         "its hidden state.\n"
      << draw(curves, out / accuracy_picture) << '\n'
      << draw(distances, out / distance_picture) << '\n';
}

int run(int argc, char** argv) {
  std::int64_t width = 64, batch = 4, longest = 8192, letters = 20;
  double timing_seconds = 30.0, training_seconds = 20.0;
  std::string out = "build/tour";
  Precision precision = Precision::full;
  examples::CommandLine command_line(
      "sequence_layers",
      "Compares the time and the accuracy of self-attention, convolution and recurrence.");
  command_line.option("width", "embedding size", width, 2, 1024);
  command_line.option("batch", "batch size for the timings", batch, 1, 1024);
  command_line.option("longest", "maximum sequence length for the timings", longest, 128, 65536);
  command_line.option(
      "timing-seconds",
      "total time for the timings, in seconds; each is repeated at least three times",
      timing_seconds, 0.0, 1e6);
  command_line.option("letters", "number of letters to reverse", letters, 1, 1000);
  command_line.option("training-seconds", "training time for each of the four models, in seconds",
                      training_seconds, 0.0, 1e6);
  command_line.choice("precision", "precision of the inputs of matrix products in training",
                      precision);
  command_line.option("out", "output directory for plots", out);
  if (!command_line.parse(argc, argv)) return 0;
  examples::make_directory(out);
  for (const char* picture : {times_picture, accuracy_picture, distance_picture})
    examples::check_picture(fs::path(out) / picture);
  const SignalHandler interrupt;
  compare_times(batch, width, longest, timing_seconds, out, interrupt);
  if (interrupt.requested())
    std::cout << "\ninterrupted; skipping the training\n";
  else
    compare_learning(width, {letters}, training_seconds, out, precision, interrupt);
  return interrupt.exit_status();
}

}  // namespace

int main(int argc, char** argv) {
  return weft::examples::run_program("sequence_layers", [&] { return run(argc, argv); });
}
