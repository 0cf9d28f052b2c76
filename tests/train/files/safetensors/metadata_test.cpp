// The metadata of a safetensors file: an object of strings.
#include <fstream>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

TEST_CASE("safetensors: metadata other than an object are refused, though they hold strings",
          "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.safetensors";
  for (const std::string metadata : {R"(["pt"])", R"("pt")", "[]", "null"}) {
    CAPTURE(metadata);
    const std::string header = "{\"__metadata__\":" + metadata + "}";
    std::ofstream out(path, std::ios::binary);
    for (std::size_t i = 0; i < 8; ++i) out.put(static_cast<char>(header.size() >> (8 * i)));
    out << header;
    out.close();
    CHECK(contains(message_of<FileError>([&] { SafetensorsFile file(path); }),
                   "expected an object of strings as __metadata__, got "));
  }
}
