// Files in every format that the HDF5 library writes: the oldest and the newest, groups with few
// and with many links, every kind of storage.
#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/hdf5/internal/library.hpp"

namespace weft {
namespace {

using hdf5::Handle;
using Sizes = std::vector<hsize_t>;

struct Written {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "file.h5";

  // `chunks_in_node` is half of the largest number of chunks in a node of an index.
  Written(bool newest, const std::function<void(hid_t file)>& write, hsize_t user_block = 0,
          unsigned chunks_in_node = 0) {
    const hdf5::LibraryLock silent;
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    if (newest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const Handle creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_userblock(creation, user_block);
    if (chunks_in_node > 0) H5Pset_istore_k(creation, chunks_in_node);
    write(Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access)));
  }
};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 0.5f;
  return values;
}

// A dataset of 0.5, 1.5, ….
void write(hid_t file, const std::string& name, const Sizes& sizes, hid_t properties,
           const Sizes& limits = {}) {
  std::size_t count = 1;
  for (const hsize_t size : sizes) count *= size;
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(),
                                      limits.empty() ? nullptr : limits.data()));
  const Handle dataset(H5Dcreate2(file, name.c_str(), H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                  properties, H5P_DEFAULT));
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   numbers(count).data()) >= 0);
}

Handle chunks_of(const Sizes& chunk) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  return properties;
}

std::vector<float> values_of(const Tensor<float>& tensor) { return {tensor.begin(), tensor.end()}; }

// All elements, and rows in the middle.
void check(const Hdf5File& file, const std::string& name, std::size_t count) {
  INFO(name);
  const StoredDataset dataset = file.dataset(name);
  const std::vector<float> expected = numbers(count);
  CHECK(values_of(dataset.tensor<float>()) == expected);
  const Index rows = dataset.shape()[0], row = static_cast<Index>(count) / rows;
  for (const auto& [first, last] :
       {std::pair<Index, Index>{0, 1}, {rows / 3, rows - 1}, {rows - 1, rows}})
    CHECK(values_of(dataset.rows<float>(first, last)) ==
          std::vector<float>(expected.begin() + first * row, expected.begin() + last * row));
}

}  // namespace

TEST_CASE("hdf5 formats: groups of any number of links are listed", "[train]") {
  for (const bool newest : {false, true})
    for (const std::size_t links : {0u, 1u, 9u, 200u, 5000u}) {
      INFO("newest format " << newest << ", " << links << " links");
      const Written written(newest, [links](hid_t file) {
        const Handle group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        const Handle scalar(H5Screate(H5S_SCALAR));
        for (std::size_t i = 0; i < links; ++i) {
          const float value = static_cast<float>(i);
          const std::string name = "number " + std::to_string(i) + std::string(i % 50, '.');
          const Handle dataset(H5Dcreate2(group, name.c_str(), H5T_NATIVE_FLOAT, scalar,
                                          H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
          H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
        }
      });
      const Hdf5File file(written.path);
      const std::vector<std::string> datasets = file.datasets();
      REQUIRE(datasets.size() == links);
      CHECK(file.has_group("group"));
      for (std::size_t i = 0; i < links; i += 7) {
        const std::string name = "number " + std::to_string(i) + std::string(i % 50, '.');
        CHECK(std::ranges::find(datasets, "/group/" + name) != datasets.end());
        CHECK(file.value<double>("group/" + name) == static_cast<double>(i));
      }
    }
}

TEST_CASE("hdf5 formats: every kind of storage is read", "[train]") {
  for (const bool newest : {false, true}) {
    INFO("newest format " << newest);
    const Sizes sizes{50, 70};
    const Written written(newest, [&](hid_t file) {
      write(file, "contiguous", sizes, H5P_DEFAULT);
      const Handle compact(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_layout(compact, H5D_COMPACT);
      write(file, "compact", sizes, compact);
      for (const bool filtered : {false, true}) {
        const std::string suffix = filtered ? ", filtered" : "";
        const auto chunked = [&](const Sizes& chunk) {
          Handle properties = chunks_of(chunk);
          if (filtered) {
            H5Pset_fletcher32(properties);
            H5Pset_shuffle(properties);
            H5Pset_deflate(properties, 6);
          }
          return properties;
        };
        write(file, "one chunk" + suffix, sizes, chunked(sizes));
        write(file, "an array of chunks" + suffix, sizes, chunked({16, 9}));
        write(file, "a paged array of chunks" + suffix, sizes, chunked({1, 2}));
        write(file, "a tree of chunks" + suffix, sizes, chunked({3, 4}),
              {H5S_UNLIMITED, H5S_UNLIMITED});
        write(file, "chunks that grow along the first axis" + suffix, sizes, chunked({3, 4}),
              {H5S_UNLIMITED, 71});
        write(file, "chunks that grow along the last axis" + suffix, sizes, chunked({3, 4}),
              {90, H5S_UNLIMITED});
        write(file, "chunks that grow to a limit" + suffix, sizes, chunked({3, 4}), {52, 200});
      }
    });
    const Hdf5File file(written.path);
    CHECK(file.datasets().size() == 16);
    for (const std::string& name : file.datasets()) check(file, name, 50 * 70);
  }
}

TEST_CASE("hdf5 formats: more chunks than a node of an index has", "[train]") {
  for (const bool newest : {false, true}) {
    const Written written(newest, [&](hid_t file) {
      write(file, "rows", {20'000}, chunks_of({3}), {H5S_UNLIMITED});
      write(file, "tree", {150, 140}, chunks_of({2, 1}), {H5S_UNLIMITED, H5S_UNLIMITED});
      write(file, "cube", {10, 20, 30}, chunks_of({3, 3, 7}));
      write(file, "growing cube", {10, 20, 30}, chunks_of({3, 3, 7}), {11, H5S_UNLIMITED, 31});
      // The chunks of the second row stand far behind those of the first: in pages of a block.
      write(file, "wide", {9, 2000}, chunks_of({1, 3}), {H5S_UNLIMITED, 100'000});
    });
    const Hdf5File file(written.path);
    check(file, "rows", 20'000);
    check(file, "tree", 150 * 140);
    check(file, "cube", 10 * 20 * 30);
    check(file, "growing cube", 10 * 20 * 30);
    check(file, "wide", 9 * 2000);
  }
}

TEST_CASE("hdf5 formats: HDF5 2's newest layouts are read", "[train]") {
  // By write_hdf5_kinds.py.
  const Hdf5File file(WEFT_TEST_DATA "/hdf5_newest.h5");
  const std::vector<std::string> names = file.datasets("filtered");
  CHECK(names.size() == 5);
  for (const std::string& name : names) check(file, name, 60);
  for (const std::string& name : file.datasets("plain")) check(file, name, 60);
}

TEST_CASE("hdf5 formats: h5py's LZF is read, alone and with other filters", "[train]") {
  // By write_hdf5_kinds.py.
  const Hdf5File file(WEFT_TEST_DATA "/hdf5_lzf.h5");
  const Tensor<float> numbers = file.tensor<float>("numbers"), noise = file.tensor<float>("noise");
  for (const char* name : {"lzf", "shuffled", "with checksums"})
    CHECK(same(file.tensor<float>(name), numbers));
  // Chunks that it would make longer are stored as they are.
  CHECK(same(file.tensor<float>("incompressible"), noise));
}

TEST_CASE("hdf5 formats: filters that a chunk skips, in every index", "[train]") {
  for (const bool newest : {false, true}) {
    INFO("newest format " << newest);
    const Written written(newest, [&](hid_t file) {
      for (const auto& [name, chunk, limits] :
           {std::tuple("one", Sizes{6, 10}, Sizes{6, 10}),
            {"array", Sizes{2, 5}, Sizes{6, 10}},
            {"paged", Sizes{1, 1}, Sizes{6, 400}},
            {"growing", Sizes{2, 5}, Sizes{6, H5S_UNLIMITED}},
            {"tree", Sizes{2, 5}, Sizes{H5S_UNLIMITED, H5S_UNLIMITED}}}) {
        const Handle properties = chunks_of(chunk);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 6);
        write(file, name, {6, 10}, properties, limits);
        const Handle dataset(H5Dopen2(file, name, H5P_DEFAULT));
        // The first and the last chunk again, with no filter, and with the first one alone.
        for (const bool is_last : {false, true}) {
          if (!is_last && chunk == Sizes{6, 10})
            continue;  // the library keeps a chunk's first mask
          std::vector<float> values;
          const Sizes start{is_last ? 6 - chunk[0] : 0, is_last ? 10 - chunk[1] : 0};
          for (hsize_t row = start[0]; row < start[0] + chunk[0]; ++row)
            for (hsize_t column = start[1]; column < start[1] + chunk[1]; ++column)
              values.push_back(static_cast<float>(10 * row + column) + 0.5f);
          const std::size_t size = values.size() * sizeof(float);
          std::vector<char> bytes(size);
          const char* from = reinterpret_cast<const char*>(values.data());
          for (std::size_t i = 0; i < size; ++i)
            bytes[is_last ? i % 4 * values.size() + i / 4 : i] = from[i];
          REQUIRE(H5Dwrite_chunk(dataset, H5P_DEFAULT, is_last ? 0b10 : 0b11, start.data(), size,
                                 bytes.data()) >= 0);
        }
      }
    });
    const Hdf5File file(written.path);
    for (const std::string& name : file.datasets()) check(file, name, 60);
  }
}

TEST_CASE("hdf5 formats: a superblock of version 1", "[train]") {
  // It has the size of the nodes of chunks.
  const Written written(
      false,
      [](hid_t file) {
        write(file, "x", {60, 5}, chunks_of({1, 5}), {H5S_UNLIMITED, 5});
      },
      0, 3);
  CHECK(bytes_of(written.path)[8] == 1);
  check(Hdf5File(written.path), "x", 300);
}

TEST_CASE("hdf5 formats: a chunk beside those of a dataset that was larger is left", "[train]") {
  const Written written(false, [](hid_t file) {
    write(file, "x", {4, 6}, chunks_of({2, 2}), {H5S_UNLIMITED, H5S_UNLIMITED});
  });
  // The library would remove the chunks: the file of a program that only changes the sizes.
  std::string bytes = bytes_of(written.path);
  const auto sizes = [](char rows, char columns) {
    return std::string{rows, 0, 0, 0, 0, 0, 0, 0, columns, 0, 0, 0, 0, 0, 0, 0} +
           std::string(16, '\xff');
  };
  const std::size_t at = bytes.find(sizes(4, 6));
  REQUIRE(at != bytes.npos);
  const auto [rows, columns] = GENERATE(table<Index, Index>({{4, 4}, {2, 6}, {3, 3}, {4, 2}}));
  write_bytes(written.path,
              bytes.replace(at, 32, sizes(static_cast<char>(rows), static_cast<char>(columns))));
  const Tensor<float> x = Hdf5File(written.path).tensor<float>("x");
  REQUIRE(x.shape() == Shape{rows, columns});
  for (Index row = 0; row < rows; ++row)
    for (Index column = 0; column < columns; ++column)
      CHECK(x(row, column) == static_cast<float>(6 * row + column) + 0.5f);
}

TEST_CASE("hdf5 formats: what was never written has the fill value", "[train]") {
  for (const bool newest : {false, true}) {
    INFO("newest format " << newest);
    const float seven = 7.0f;
    const auto create = [](hid_t file, const std::string& name, const Sizes& sizes,
                           hid_t properties) {
      const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr));
      return Handle(H5Dcreate2(file, name.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT, properties,
                               H5P_DEFAULT));
    };
    const Written written(newest, [&](hid_t file) {
      for (const bool filled : {false, true}) {
        const std::string suffix = filled ? " sevens" : " zeros";
        const Handle contiguous(H5Pcreate(H5P_DATASET_CREATE)), chunked = chunks_of({2, 3});
        if (filled) {
          H5Pset_fill_value(contiguous, H5T_NATIVE_FLOAT, &seven);
          H5Pset_fill_value(chunked, H5T_NATIVE_FLOAT, &seven);
        }
        create(file, "contiguous" + suffix, {200, 1000}, contiguous);
        create(file, "chunks" + suffix, {5, 7}, chunked);
        const Handle part = create(file, "parts" + suffix, {5, 7}, chunked);
        const Handle space(H5Dget_space(part));
        const hsize_t start[2] = {1, 4}, count[2] = {2, 3}, size = 6;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
        H5Dwrite(part, H5T_NATIVE_FLOAT, Handle(H5Screate_simple(1, &size, nullptr)), space,
                 H5P_DEFAULT, numbers(6).data());
      }
      const Handle never(H5Pcreate(H5P_DATASET_CREATE)), undefined = chunks_of({2, 3});
      H5Pset_fill_time(never, H5D_FILL_TIME_NEVER);
      H5Pset_fill_value(undefined, H5T_NATIVE_FLOAT, nullptr);
      create(file, "never filled", {5, 7}, never);
      create(file, "undefined", {5, 7}, undefined);
      create(file, "enormous", {1 << 13, 1 << 13 | 1}, H5P_DEFAULT);
      create(file, "enormous chunks", {1 << 13, 1 << 13 | 1}, chunks_of({1 << 10, 1 << 10}));
    });
    const Hdf5File file(written.path);
    for (const auto& [suffix, value] : {std::pair(" zeros", 0.0f), {" sevens", seven}}) {
      CHECK(same(file.tensor<float>(str_cat("contiguous", suffix)),
                 Tensor<float>::full({200, 1000}, value)));
      CHECK(same(file.dataset(str_cat("contiguous", suffix)).rows<float>(7, 9),
                 Tensor<float>::full({2, 1000}, value)));
      CHECK(
          same(file.tensor<float>(str_cat("chunks", suffix)), Tensor<float>::full({5, 7}, value)));
      Tensor<float> parts = Tensor<float>::full({5, 7}, value);
      for (Index i = 0; i < 6; ++i) parts(1 + i / 3, 4 + i % 3) = static_cast<float>(i) + 0.5f;
      CHECK(same(file.tensor<float>(str_cat("parts", suffix)), parts));
    }
    for (const char* name : {"never filled", "undefined"})
      CHECK_THAT(
          message_of<FileError>([&] { file.tensor<float>(name); }),
          Catch::EndsWith(
              "expected stored data, got a dataset that was never written, or only in part"));
    for (const char* name : {"enormous", "enormous chunks"})
      CHECK_THAT(message_of<FileError>([&] { file.tensor<float>(name); }),
                 Catch::Contains("expected at most 268435456 bytes that were never written, got "));
  }
}

TEST_CASE("hdf5 formats: soft links lead to objects of the file", "[train]") {
  for (const bool newest : {false, true}) {
    INFO("newest format " << newest);
    const auto link = [](hid_t file, const std::string& target, const std::string& name) {
      H5Lcreate_soft(target.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    };
    const Written written(newest, [&](hid_t file) {
      Handle(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      Handle(H5Gcreate2(file, "group/inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      write(file, "group/inner/x", {6}, H5P_DEFAULT);
      link(file, "/group/inner/x", "absolute");
      link(file, "inner//./x", "group/relative");
      link(file, "group/inner", "latest");
      link(file, "latest/x", "through");
      link(file, "absolute", "twice");
      for (int i = 0; i < 15; ++i)
        link(file, i == 0 ? "absolute" : "chain " + std::to_string(i - 1),
             "chain " + std::to_string(i));
    });
    const Hdf5File file(written.path);
    std::vector<std::string> expected{"/absolute", "/group/inner/x", "/group/relative",
                                      "/latest/x", "/through",       "/twice"};
    for (int i = 0; i < 15; ++i) expected.push_back("/chain " + std::to_string(i));
    std::ranges::sort(expected);
    CHECK(file.datasets() == expected);
    CHECK(file.datasets("latest") == std::vector<std::string>{"/latest/x"});
    CHECK(file.has_group("latest"));
    for (const std::string& name : expected) check(file, name, 6);
  }
}

TEST_CASE("hdf5 formats: datasets may have a named type, which is no dataset", "[train]") {
  for (const bool newest : {false, true}) {
    const Written written(newest, [](hid_t file) {
      const Handle type(H5Tcopy(H5T_IEEE_F64BE)), scalar(H5Screate(H5S_SCALAR));
      Handle(H5Gcreate2(file, "types", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Tcommit2(file, "types/number", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      const Handle dataset(
          H5Dcreate2(file, "x", type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      const double value = 2.5;
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    });
    const Hdf5File file(written.path);
    CHECK(file.datasets() == std::vector<std::string>{"/x"});
    CHECK(file.type("x") == "big-endian float64");
    CHECK(file.value<double>("x") == 2.5);
    CHECK_THAT(
        message_of<FileError>([&] { file.dataset("types/number"); }),
        Catch::EndsWith("/types/number: expected a dataset, got a different kind of object"));
  }
}

TEST_CASE("hdf5 formats: attributes, few and many, and strings of both kinds", "[train]") {
  for (const bool newest : {false, true})
    for (const int count : {1, 7, 60}) {
      INFO("newest format " << newest << ", " << count << " attributes");
      const Written written(newest, [count](hid_t file) {
        const Handle scalar(H5Screate(H5S_SCALAR));
        const Handle text(H5Tcopy(H5T_C_S1));
        H5Tset_size(text, H5T_VARIABLE);
        for (int i = 0; i < count; ++i) {
          const Handle number(H5Acreate2(file, ("number " + std::to_string(i)).c_str(),
                                         H5T_STD_I16BE, scalar, H5P_DEFAULT, H5P_DEFAULT));
          H5Awrite(number, H5T_NATIVE_INT, &i);
          const std::string content = "text " + std::string(static_cast<std::size_t>(i), 'x');
          const char* pointer = content.c_str();
          const Handle attribute(H5Acreate2(file, ("text " + std::to_string(i)).c_str(), text,
                                            scalar, H5P_DEFAULT, H5P_DEFAULT));
          H5Awrite(attribute, text, &pointer);
        }
      });
      const Hdf5File file(written.path);
      for (int i = 0; i < count; ++i) {
        CHECK(file.attribute<std::int64_t>("/", "number " + std::to_string(i)) == i);
        CHECK(file.attribute<std::string>("/", "text " + std::to_string(i)) ==
              "text " + std::string(static_cast<std::size_t>(i), 'x'));
      }
      CHECK_FALSE(file.has_attribute("/", "number 60"));
    }
}

TEST_CASE("hdf5 formats: orders of creation are skipped, and so are limits of attributes",
          "[train]") {
  for (const int count : {2, 40}) {
    INFO(count << " links and attributes");
    const Written written(true, [count](hid_t file) {
      const Handle properties(H5Pcreate(H5P_GROUP_CREATE)), scalar(H5Screate(H5S_SCALAR));
      H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
      H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
      H5Pset_attr_phase_change(properties, 5, 3);
      const Handle group(H5Gcreate2(file, "group", H5P_DEFAULT, properties, H5P_DEFAULT));
      for (int i = 0; i < count; ++i) {
        const std::string name = "number " + std::to_string(i);
        write(group, name, {3}, H5P_DEFAULT);
        const Handle number(
            H5Acreate2(group, name.c_str(), H5T_STD_I16BE, scalar, H5P_DEFAULT, H5P_DEFAULT));
        H5Awrite(number, H5T_NATIVE_INT, &i);
      }
    });
    const Hdf5File file(written.path);
    CHECK(std::ssize(file.datasets()) == count);
    for (int i = 0; i < count; ++i) {
      const std::string name = "number " + std::to_string(i);
      check(file, "group/" + name, 3);
      CHECK(file.attribute<std::int64_t>("group", name) == i);
    }
  }
}

TEST_CASE("hdf5 formats: an attribute with a named type is refused", "[train]") {
  const Written written(true, [](hid_t file) {
    const Handle type(H5Tcopy(H5T_IEEE_F32LE)), scalar(H5Screate(H5S_SCALAR));
    H5Tcommit2(file, "number", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const Handle attribute(H5Acreate2(file, "x", type, scalar, H5P_DEFAULT, H5P_DEFAULT));
    const float value = 2.5F;
    H5Awrite(attribute, H5T_NATIVE_FLOAT, &value);
  });
  const Hdf5File file(written.path);
  CHECK(contains(message_of<FileError>([&] { file.attribute<double>("/", "x"); }),
                 "an attribute with a shared type"));
}

TEST_CASE("hdf5 formats: a file may follow other data", "[train]") {
  for (const hsize_t user_block : {512u, 1024u, 65536u}) {
    const Written written(
        false,
        [](hid_t file) {
          write(file, "x", {1000, 3}, H5P_DEFAULT);
        },
        user_block);
    check(Hdf5File(written.path), "x", 3000);
  }
}

}  // namespace weft
