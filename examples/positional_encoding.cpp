// positional_encoding: how attention is told where a vector stands: by sines and cosines that are
// added, by vectors that are learned, and by rotating queries and keys.
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "examples/common/plot.hpp"
#include "examples/common/program.hpp"

namespace {

using namespace weft;
namespace fs = std::filesystem;

constexpr Index d = 32, positions = 60;

// --- Sines and cosines --------------------------------------------------------------------------

// Column c of the encoding over the positions.
examples::Line column_of(const Tensor<float>& table, Index column) {
  examples::Line line{.name = concatenate_text("column ", column), .x = {}, .y = {}};
  for (Index i = 0; i < positions; ++i) {
    line.x.push_back(static_cast<double>(i));
    line.y.push_back(table(i, column));
  }
  return line;
}

// Every `step`-th of `count` numbers as names of rows or columns, the others without.
std::vector<std::string> numbered(Index count, Index step) {
  std::vector<std::string> names(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; i += step) names[static_cast<std::size_t>(i)] = std::to_string(i);
  return names;
}

void show_sines(const fs::path& out) {
  const PositionalEncoding encoding({.num_hiddens = d, .max_len = positions});
  const Tensor<float>& table = encoding.table();
  std::cout << "Sines and cosines: P[i, 2j] = sin(i / 10000^(2j/d)), P[i, 2j+1] = cos of the same, "
               "d = "
            << d
            << ".\nNeighbouring columns come in pairs, and each pair is slower than the one "
               "before:\n\n  columns  positions a wave\n";
  for (const Index column : {0, 6, 8, 16, 30})
    std::cout << std::setw(5) << column << ", " << std::left << std::setw(2) << column + 1
              << std::right << std::fixed << std::setprecision(1) << std::setw(18)
              << 2.0 * std::acos(-1.0) *
                     std::pow(10000.0, static_cast<double>(column) / static_cast<double>(d))
              << '\n';
  examples::LineChart chart{.title = "Four columns of the positional encoding",
                            .x_label = "position",
                            .y_label = "value",
                            .lines = {}};
  for (const Index column : {6, 7, 8, 9}) chart.lines.push_back(column_of(table, column));
  examples::HeatMaps maps;
  maps.title = "The positional encoding";
  maps.x_label = "column";
  maps.y_label = "position";
  maps.columns = numbered(d, 4);
  maps.rows = numbered(positions, 10);
  maps.maps = {{"", table}};
  maps.lowest = -1.0;
  maps.cell = 11.0;
  std::cout << '\n'
            << examples::draw(chart, out / "positional_encoding_columns.svg") << '\n'
            << examples::draw(maps, out / "positional_encoding.svg") << '\n';
}

// --- Binary numbers -----------------------------------------------------------------------------

void show_binary_numbers(const fs::path& out) {
  constexpr Index bits = 6;
  const PositionalEncoding encoding({.num_hiddens = d, .max_len = positions});
  std::cout
      << "\nBinary numbers tell positions in the same way: the lowest bit alternates fastest, "
         "each other\nhalf as fast as the one after it. The encoding's sines do so smoothly:\n\n"
         "  number  in binary    column 12  column 6  column 0\n";
  for (Index i = 0; i < 8; ++i) {
    std::cout << std::setw(8) << i << std::setw(9);
    std::string binary;
    for (Index bit = 2; bit >= 0; --bit) binary += (i >> bit) % 2 == 1 ? '1' : '0';
    std::cout << binary << std::setprecision(2) << std::setw(15) << encoding.table()(i, 12)
              << std::setw(10) << encoding.table()(i, 6) << std::setw(10) << encoding.table()(i, 0)
              << '\n';
  }
  Tensor<float> values({bits, 64});
  examples::HeatMaps maps;
  for (Index bit = 0; bit < bits; ++bit) {
    maps.rows.push_back(concatenate_text("bit ", bit));
    for (Index i = 0; i < 64; ++i) values(bit, i) = static_cast<float>((i >> bit) % 2);
  }
  maps.title = "The bits of the numbers 0 … 63";
  maps.x_label = "number";
  maps.columns = numbered(64, 8);
  maps.maps = {{"", values}};
  maps.cell = 12.0;
  std::cout << '\n' << examples::draw(maps, out / "binary_numbers.svg") << '\n';
}

// --- Rotary -------------------------------------------------------------------------------------

// The same vector at `time` positions from `first` on, as three axes.
Tensor<double> repeated(const Tensor<double>& vector, Index time) {
  Tensor<double> sequence({1, time, d});
  for (Index i = 0; i < time; ++i)
    std::copy(vector.begin(), vector.end(), sequence.begin() + i * d);
  return sequence;
}

// Scores q · k / √d, the key at `key_position` and the query `distance` = 0, 1, … after it, given
// what makes of a vector everywhere that vector at positions `key_position` on.
template <class Place>
std::vector<double> scores(const Tensor<double>& query, const Tensor<double>& key, Index distances,
                           const Place& place) {
  Tape<double> tape = Tape<double>::inference();
  const Tensor<double> queries = place(tape.constant(repeated(query, distances))).value();
  const Tensor<double> keys = place(tape.constant(repeated(key, distances))).value();
  std::vector<double> result;
  for (Index distance = 0; distance < distances; ++distance) {
    double product = 0.0;
    for (Index c = 0; c < d; ++c) product += queries(0, distance, c) * keys(0, 0, c);
    result.push_back(product / std::sqrt(static_cast<double>(d)));
  }
  return result;
}

void show_rotary(const fs::path& out) {
  constexpr Index distances = 100, far = 500;
  Random random(3);
  const Tensor<double> query = random.normal_tensor<double>({d});
  const Tensor<double> key = random.normal_tensor<double>({d});
  const PositionalEncoding<double> encoding({.num_hiddens = d});
  const auto rotated = [](Index first) {
    return
        [first](const Var<double>& x) { return rotary_embedding(x, 1, {.first_position = first}); };
  };
  const auto added = [&](Index first) {
    return [&encoding, first](const Var<double>& x) {
      const Var<double> table = x.tape().constant(encoding.table());
      return x + slice(table, 0, first, first + x.shape()[1]);
    };
  };
  const std::vector<std::vector<double>> columns{
      scores(query, key, distances, rotated(0)), scores(query, key, distances, rotated(far)),
      scores(query, key, distances, added(0)), scores(query, key, distances, added(far))};

  std::cout
      << "\nRotary: a query and a key are turned by their positions. Their score then depends "
         "on how far\nthe query stands after the key, not on where. With sines that are added "
         "it depends on both:\n\n"
         "                rotary, key at       sines added, key at\n"
         "  distance          0       500           0       500\n";
  for (const std::size_t distance : {0, 1, 2, 5, 10, 20, 50}) {
    std::cout << std::setw(10) << distance << std::setprecision(4);
    for (std::size_t i = 0; i < columns.size(); ++i)
      std::cout << std::setw(i == 2 ? 12 : i == 0 ? 11 : 10) << columns[i][distance];
    std::cout << '\n';
  }

  // A vector and itself: the nearer, the more alike.
  examples::LineChart chart{
      .title = "The score of a vector with itself, by how far the two stand apart",
      .x_label = "distance, in positions",
      .y_label = "score",
      .lines = {}};
  const auto draw_line = [&](const std::string& name, bool points, const auto& place) {
    examples::Line line{.name = name, .x = {}, .y = scores(query, query, distances, place)};
    for (Index i = 0; i < distances; ++i) line.x.push_back(static_cast<double>(i));
    line.points = points;
    chart.lines.push_back(line);
  };
  draw_line("rotary, key at position 0", false, rotated(0));
  draw_line("rotary, key at position 500", true, rotated(far));
  draw_line("sines added, key at position 0", false, added(0));
  draw_line("sines added, key at position 500", true, added(far));
  std::cout << '\n' << examples::draw(chart, out / "rotary_scores.svg") << '\n';
}

// --- Learned ------------------------------------------------------------------------------------

// Attention that sees learned positions.
struct Neighbours : Module<float> {
  explicit Neighbours(Random& random)
      : encoding({.num_hiddens = d, .max_len = positions}, random),
        attention({.query_size = d, .key_size = d, .value_size = d, .num_hiddens = d}, random) {}

  Var<float> operator()(const Var<float>& x) const {
    const Var<float> placed = encoding(x);
    return attention(placed, placed, x);
  }

  void members(Members<float>& members) override {
    members.type("Neighbours");
    members("encoding", encoding);
    members("attention", attention);
  }

  LearnedPositionalEncoding<float> encoding;
  MultiHeadAttention<float> attention;
};

// For each vector of x [batch, positions, d] the mean of it and up to two on either side.
Tensor<float> means_of_neighbours(const Tensor<float>& x) {
  Tensor<float> means(x.shape());
  for (Index sequence = 0; sequence < x.shape()[0]; ++sequence)
    for (Index i = 0; i < positions; ++i) {
      const Index first = std::max<Index>(i - 2, 0), last = std::min(i + 2, positions - 1);
      for (Index c = 0; c < d; ++c) {
        float sum = 0.0F;
        for (Index k = first; k <= last; ++k) sum += x(sequence, k, c);
        means(sequence, i, c) = sum / static_cast<float>(last - first + 1);
      }
    }
  return means;
}

// The cosine of the angle between each two rows.
Tensor<float> similarities(const Tensor<float>& rows) {
  Tensor<float> result({positions, positions});
  const auto product = [&](Index a, Index b) {
    double sum = 0.0;
    for (Index c = 0; c < d; ++c) sum += static_cast<double>(rows(a, c)) * rows(b, c);
    return sum;
  };
  for (Index a = 0; a < positions; ++a)
    for (Index b = 0; b < positions; ++b)
      result(a, b) = static_cast<float>(product(a, b) / std::sqrt(product(a, a) * product(b, b)));
  return result;
}

void show_learned(const fs::path& out) {
  Random random(5);
  Neighbours model(random);
  const Tensor<float> before = similarities(model.encoding.positions.weight.value());
  AdamW<float> optimizer(model, {.lr = 5e-3});
  Tape<float> tape({.training = true});
  std::cout
      << "\nLearned positions: an attention learns to give the mean of each vector and two on "
         "either side.\nIts positions start as noise; in the end neighbours are alike.\n\n";
  constexpr int steps = 600;
  for (int step = 0; step <= steps; ++step) {
    const Tensor<float> x = random.normal_tensor<float>({16, positions, d});
    const Var<float> loss =
        mse_loss(model(tape.constant(x)), tape.constant(means_of_neighbours(x)));
    if (step % 200 == 0)
      std::cout << "  step " << std::setw(3) << step << "  loss " << loss.item() << '\n';
    tape.backward(loss);
    optimizer.step();
  }
  const PositionalEncoding fixed({.num_hiddens = d, .max_len = positions});
  examples::HeatMaps maps;
  maps.title = "How alike positions are: the cosine of the angle between their vectors";
  maps.x_label = "position";
  maps.y_label = "position";
  maps.columns = maps.rows = numbered(positions, 10);
  maps.maps = {{"learned, before", before},
               {"learned, after", similarities(model.encoding.positions.weight.value())},
               {"sines and cosines", similarities(fixed.table())}};
  maps.lowest = -1.0;
  maps.cell = 4.0;
  std::cout << '\n' << examples::draw(maps, out / "position_similarity.svg") << '\n';
}

void run(const fs::path& out) {
  show_sines(out);
  show_binary_numbers(out);
  show_rotary(out);
  show_learned(out);
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_tour_program(argc, argv, "positional_encoding",
                                    "Shows how attention is told positions: by sines and cosines, "
                                    "by rotating, by learned vectors.",
                                    run);
}
