#include "examples/pronounce/pictures.hpp"

#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include "examples/common/attention_maps.hpp"
#include "examples/common/plot.hpp"

namespace weft::pronounce {

std::string draw_attention(const SavedModel& saved, const std::string& word,
                           const std::filesystem::path& picture) {
  const std::vector<TokenIds> words{saved.language.encode(word)};
  const TokenIds output = greedy_search(saved.model, words).front().tokens;

  examples::HeatMaps maps;
  maps.title = "Attention of each phone over the letters of “" + word + "”";
  maps.x_label = "letter";
  maps.y_label = "phone";
  maps.columns = saved.language.letters.decode(words.front());
  maps.rows = examples::answer_names(saved.language.phones, output);
  maps.maps_in_row = saved.configuration.heads;
  maps.maps = examples::cross_attention_maps(saved.model, words.front(), output);
  return examples::draw(maps, picture);
}

}  // namespace weft::pronounce
