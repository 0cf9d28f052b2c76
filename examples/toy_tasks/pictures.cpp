#include "examples/toy_tasks/pictures.hpp"

#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include "examples/common/attention_maps.hpp"

namespace weft::toy_tasks {

examples::Line accuracy_line(const Task& task, const TrainingHistory& history) {
  return {task.name, history.validation_seconds, history.validation_accuracies};
}

std::string draw_accuracies(std::vector<examples::Line> lines,
                            const std::filesystem::path& picture) {
  return examples::draw(examples::LineChart{.title = "Accuracy on held-out questions",
                                            .x_label = "training time, s",
                                            .y_label = "exact matches, %",
                                            .lines = std::move(lines)},
                        picture);
}

std::string draw_attention(const Solver& solver, const std::string& question,
                           const std::filesystem::path& picture) {
  const std::vector<TokenIds> sources{solver.encode(question)};
  const TokenIds output = greedy_search(solver.model, sources).front().tokens;

  examples::HeatMaps maps;
  maps.title = solver.task.name + ": attention of each output character over “" + question + "”";
  maps.x_label = "source character";
  maps.y_label = "output character";
  maps.columns = solver.vocabulary.decode(sources.front());
  maps.rows = examples::answer_names(solver.vocabulary, output);
  maps.maps_in_row = heads;
  maps.maps = examples::cross_attention_maps(solver.model, sources.front(), output);
  maps.maps.erase(maps.maps.begin(), maps.maps.end() - heads);
  return examples::draw(maps, picture);
}

}  // namespace weft::toy_tasks
