#include "autograd/internal/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/autograd/tensor.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// A pool that is abandoned at the end of its scope.
struct OwnedPool {
  Pool* pool = Pool::create();
  OwnedPool() = default;
  OwnedPool(const OwnedPool&) = delete;
  OwnedPool& operator=(const OwnedPool&) = delete;
  ~OwnedPool() { pool->abandon(); }
};

}  // namespace

TEST_CASE("buffer: memory of every size is aligned and can be written to its end", "[autograd]") {
  const OwnedPool owned;
  for (Pool* pool : {static_cast<Pool*>(nullptr), owned.pool})
    for (std::size_t bytes = 0; bytes < 20000; bytes = bytes * 9 / 8 + 1) {
      const Buffer buffer(bytes, pool);
      CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
      std::memset(buffer.data(), 0xAB, bytes);
    }
}

TEST_CASE("buffer: handles share one block until the last is destroyed", "[autograd]") {
  Buffer first(100);
  CHECK_FALSE(first.shared());
  {
    const Buffer second = first;
    CHECK(second.data() == first.data());
    CHECK(first.shared());
  }
  CHECK_FALSE(first.shared());
  const Buffer moved = std::move(first);
  CHECK_FALSE(moved.shared());
  CHECK(Buffer().data() == nullptr);
  CHECK_FALSE(Buffer().shared());
}

TEST_CASE("buffer: derived data are computed again after a write or an exception", "[autograd]") {
  const OwnedPool owned;
  for (Pool* pool : {static_cast<Pool*>(nullptr), owned.pool}) {
    Buffer buffer(100, pool);
    int calls = 0;
    const auto count = [&](void* memory) { *static_cast<int*>(memory) = ++calls; };
    const auto refuse = [](void*) { throw std::runtime_error("no data"); };
    const auto derived = [&] { return *static_cast<int*>(buffer.derived(4, count).data()); };
    CHECK_THROWS_AS(buffer.derived(4, refuse), std::runtime_error);
    CHECK(derived() == 1);
    CHECK(derived() == 1);
    buffer.outdate();
    CHECK(derived() == 2);
    buffer.outdate();
    CHECK_THROWS_AS(buffer.derived(4, refuse), std::runtime_error);
    CHECK(derived() == 3);
    // Memory that is still in use is not written again.
    const Buffer in_use = buffer.derived(4, count);
    buffer.outdate();
    CHECK(derived() == 4);
    CHECK(*static_cast<int*>(in_use.data()) == 3);
  }
}

TEST_CASE("buffer: an allocation that fails leaves no derived data", "[autograd]") {
  const OwnedPool owned;
  for (Pool* pool : {static_cast<Pool*>(nullptr), owned.pool}) {
    Buffer buffer(100, pool);
    const auto set = [](void* memory) { *static_cast<int*>(memory) = 1; };
    CHECK_THROWS_AS(buffer.derived(SIZE_MAX / 2, set), std::bad_alloc);
    CHECK_FALSE(buffer.has_derived());
    CHECK(*static_cast<int*>(buffer.derived(4, set).data()) == 1);
  }
}

TEST_CASE("buffer: a second thread waits for data that are being derived", "[autograd]") {
  const Buffer buffer(100);
  std::atomic<int> calls = 0;
  std::atomic<bool> second = false;
  int seen_by_other = 0;
  const auto derived = [&] {
    const Buffer data = buffer.derived(4, [&](void* memory) {
      ++calls;
      while (!second) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *static_cast<int*>(memory) = 7;
    });
    return *static_cast<int*>(data.data());
  };
  std::thread other([&] {
    while (calls == 0) std::this_thread::yield();
    second = true;
    seen_by_other = derived();
  });
  CHECK(derived() == 7);
  other.join();
  CHECK(seen_by_other == 7);
  CHECK(calls == 1);
}

TEST_CASE("pool: reuses a released block for a request of about the same size", "[autograd]") {
  const OwnedPool owned;
  const void* memory = nullptr;
  {
    const Buffer buffer(10000, owned.pool);
    memory = buffer.data();
  }
  CHECK(owned.pool->statistics().bytes_in_use == 0);
  const Buffer again(10010, owned.pool);
  CHECK(again.data() == memory);
  CHECK(owned.pool->statistics().bytes_in_use == owned.pool->statistics().bytes_held);
  CHECK(owned.pool->statistics().heap_requests == 1);
  CHECK(owned.pool->statistics().bytes_held >= 10010);
  CHECK(owned.pool->statistics().bytes_held <= 10000 * 3 / 2);
}

TEST_CASE("pool: a block in use outlives its pool", "[autograd]") {
  Buffer survivor;
  {
    const OwnedPool owned;
    survivor = Buffer(1000, owned.pool);
  }
  std::memset(survivor.data(), 1, 1000);
}

TEST_CASE("pool: an allocation that fails throws and leaves the pool usable", "[autograd]") {
  const OwnedPool owned;
  CHECK_THROWS_AS(Buffer(SIZE_MAX / 2, owned.pool), std::bad_alloc);
  CHECK_THROWS_AS(Buffer(SIZE_MAX), std::bad_alloc);
  CHECK(Buffer(100, owned.pool).data() != nullptr);
}

TEST_CASE("pool: a block that is used again has no elements of the tensor before", "[autograd]") {
  const OwnedPool owned;
  for (const std::uint16_t number : {std::uint16_t{0x3F80}, std::uint16_t{0x4000}}) {  // 1 and 2
    const auto x = Tensor<float>::of_bf16(
        {2000}, [&](auto numbers) { std::ranges::fill(numbers, number); }, owned.pool);
    CHECK(x(1999) == (number == 0x4000 ? 2.0F : 1.0F));
  }
}

TEST_CASE("pool: threads may release blocks while it is abandoned", "[autograd]") {
  for (int round = 0; round < 200; ++round) {
    Pool* pool = Pool::create();
    std::vector<Buffer> free_soon;
    for (std::size_t i = 0; i < 20; ++i) free_soon.emplace_back(i * 100, pool);
    std::vector<Buffer> in_use;
    for (std::size_t i = 0; i < 20; ++i) in_use.emplace_back(i * 100, pool);
    free_soon.clear();
    std::thread other([&in_use] { in_use.clear(); });
    pool->abandon();
    other.join();
  }
}

}  // namespace weft
